// What every page does: requests with the session's token, short messages, the drawer, dialogs, growing text fields, the meter.
// A script of an area imports what it needs from here and holds no text of its own: texts come from the locales by `text`.

const texts = JSON.parse(document.body.dataset.texts || "{}");

/** Return a text of the locales (key without `js.`), filled in with facts. */
export function text(key, facts = {}) {
  return texts[key].replace(/\{(\w+)\}/g, (_, name) => facts[name]);
}

/** An answer that is an error of the host: `code`, `status`, `message` for the person, and `found`, the whole answer. */
export class HostError extends Error {
  constructor(code, message, status, found) {
    super(message);
    this.found = found;
    this.code = code;
    this.status = status;
  }
}

const token = () => document.querySelector('meta[name="csrf-token"]').content;

/** Send a request that changes something; the answer is a Response that is ok, or a HostError is thrown. */
export async function send(method, url, body, options = {}) {
  const headers = { "X-CSRF-Token": token(), Accept: "application/json", ...options.headers };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(url, { ...options, method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new HostError("offline", text("offline"), 0);
  }
  if (response.ok) return response;
  throw await problem(response);
}

async function problem(response) {
  let body;
  try {
    body = await response.json();
  } catch {
    body = undefined;
  }
  const found = body?.error;
  if (response.status === 401) location.assign("/sign-in?next=" + encodeURIComponent(location.pathname));
  return new HostError(found?.code ?? "unforeseen", found?.text ?? text("unforeseen"), response.status, body);
}

/** Post JSON and return the JSON of the answer, or null when there is none. */
export async function post(url, body) {
  const response = await send("POST", url, body);
  return response.status === 204 ? null : response.json();
}

/** Get JSON. */
export async function get(url) {
  return (await send("GET", url)).json();
}

/** Show a short message; `kind` is "good" or "bad". It is read aloud. */
export function toast(message, kind = "good") {
  const shown = document.createElement("p");
  shown.className = `toast toast-${kind}`;
  shown.textContent = message;
  document.getElementById("toasts")?.append(shown);
  setTimeout(() => shown.remove(), kind === "bad" ? 10000 : 5000);
}

/** Run what a click asked for; while it runs the control is off, and an error becomes a toast. Returns undefined then. */
export async function doing(control, work) {
  control.disabled = true;
  try {
    return await work();
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    toast(error instanceof HostError ? error.message : text("unforeseen"), "bad");
    return undefined;
  } finally {
    control.disabled = false;
  }
}

/** Put markup that the host made in place of an element and return the new one. Never for text of a person or a model. */
export function replace(element, markup) {
  const holder = document.createElement("template");
  holder.innerHTML = markup;
  const fresh = holder.content.firstElementChild;
  element.replaceWith(fresh);
  return fresh;
}

/** Make a text field as high as its text. */
export function grow(area) {
  area.style.blockSize = "auto";
  area.style.blockSize = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`;
}

/** Count lines and bytes as the host does: UTF-8, LF, a last line without an end counts. */
export function measure(value) {
  const lf = value.replace(/\r\n?/g, "\n");
  const ends = lf.split("\n").length - 1;
  return { lines: ends + (lf !== "" && !lf.endsWith("\n") ? 1 : 0), bytes: new TextEncoder().encode(lf).length };
}

/** Bring a meter up to date with a text. */
export function fillMeter(meter, value) {
  const { lines, bytes } = measure(value);
  const fill = (name, count, most) => {
    const bar = meter.querySelector(`[data-meter-${name}]`);
    bar.value = count;
    const label = bar.closest("label");
    label.querySelector("output").value = `${count} / ${most}`;
    label.classList.toggle("over", count > most);
  };
  fill("lines", lines, Number(meter.dataset.mostLines));
  fill("bytes", bytes, Number(meter.dataset.mostBytes));
}

function setDrawer(open) {
  const button = document.querySelector("[data-drawer]");
  document.body.classList.toggle("drawer-open", open);
  button.setAttribute("aria-expanded", String(open));
  document.querySelector("[data-veil]").hidden = !open;
  document.getElementById("main").inert = open;
  if (open) document.querySelector("#side a, #side button")?.focus();
}

function closeDrawer() {
  if (!document.body.classList.contains("drawer-open")) return false;
  setDrawer(false);
  document.querySelector("[data-drawer]").focus();
  return true;
}

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-drawer], [data-veil], [data-opens], [data-closes]");
  if (!target) return;
  if (target.matches("[data-drawer]")) setDrawer(!document.body.classList.contains("drawer-open"));
  if (target.matches("[data-veil]")) closeDrawer();
  if (target.matches("[data-opens]")) document.getElementById(target.dataset.opens).showModal();
  if (target.matches("[data-closes]")) target.closest("dialog").close();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeDrawer();
  const sends = event.target.closest?.("[data-enter-sends]");
  // A word that is still being composed (Japanese, Chinese) takes its Enter for itself.
  if (sends && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    sends.form.requestSubmit();
  }
});

document.addEventListener("input", (event) => {
  if (event.target.matches("[data-grows]")) grow(event.target);
  const meter = event.target.id && document.querySelector(`[data-meter="${CSS.escape(event.target.id)}"]`);
  if (meter) fillMeter(meter, event.target.value);
});

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
for (const field of document.querySelectorAll("[data-own-time-zone], #field-time_zone")) field.value ||= zone;
if (zone && document.body.dataset.timeZone === "") post("/account/time-zone", { time_zone: zone }).catch(() => {});
for (const area of document.querySelectorAll("[data-grows]")) grow(area);
// A wide window shows the column anyway.
matchMedia("(min-width: 56rem)").addEventListener("change", (event) => event.matches && document.querySelector("[data-drawer]") && setDrawer(false));
