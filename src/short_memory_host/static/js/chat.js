// The chat: what the person writes goes out, the answer comes as a stream of events, and the host makes every card.
import "./cards.js";
import { doing, get, HostError, post, send, text } from "./page.js";

const thread = document.querySelector("[data-thread]");
const composer = document.querySelector("[data-composer]");
const chat = thread.dataset.chat;
const stop = document.querySelector("[data-stop]");
const go = document.querySelector("[data-go]");
const scroll = document.querySelector(".chat-scroll");
let running = null;

const nearEnd = () => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 120;
const toEnd = () => scroll.scrollTo({ top: scroll.scrollHeight });

function piece(name) {
  return document.getElementById(`piece-${name}`).content.firstElementChild.cloneNode(true);
}

function add(element) {
  const follow = nearEnd();
  thread.append(element);
  if (follow) toEnd();
  return element;
}

function addText(name, words) {
  const element = piece(name);
  (element.querySelector(".message-text") ?? element).textContent = words;
  return add(element);
}

function addMarkup(markup) {
  const holder = document.createElement("template");
  holder.innerHTML = markup;
  const fresh = holder.content.firstElementChild;
  // One card for one proposal: asked for again, it moves to the end as it stands now.
  if (fresh.id) document.getElementById(fresh.id)?.remove();
  return add(fresh);
}

/** Yield the JSON of each event of a stream of server-sent events. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const data = block.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
      if (data.length) yield JSON.parse(data.join("\n"));
    }
  }
}

function setRunning(controller) {
  running = controller;
  stop.hidden = !controller;
  go.hidden = Boolean(controller);
  thread.setAttribute("aria-busy", String(Boolean(controller)));
  document.querySelector("[data-retry]")?.toggleAttribute("hidden", Boolean(controller));
}

async function answer(anew) {
  const controller = new AbortController();
  setRunning(controller);
  let bubble = add(piece("waiting"));
  const words = () => bubble.querySelector(".message-text");
  const settle = () => {
    if (!words().textContent) bubble.remove();
    bubble.classList.remove("waiting");
  };
  const next = () => {
    settle();
    bubble = add(piece("waiting"));
  };
  try {
    const response = await send("POST", `/chat/${chat}/answer`, { anew }, { signal: controller.signal, headers: { Accept: "text/event-stream" } });
    let heard = 0;
    for await (const event of events(response)) {
      // This page was drawn while the answer before it was being stopped: what was said of it stands in the next one.
      if (event.kind === "done" && !heard) location.reload();
      heard += 1;
      const follow = nearEnd();
      if (event.kind === "text") words().append(event.text);
      else if (event.kind === "said") {
        if (event.html) words().innerHTML = event.html;
        next();
      } else if (event.kind === "chip") {
        settle();
        addText("chip", event.text);
        bubble = add(piece("waiting"));
      } else if (event.kind === "piece") {
        settle();
        addMarkup(event.html);
        bubble = add(piece("waiting"));
      } else if (event.kind === "failed") {
        settle();
        addText("failed", event.text);
        bubble = add(piece("waiting"));
      }
      if (follow) toEnd();
    }
  } catch (error) {
    if (error.name === "AbortError") addText("failed", text("stopped"));
    else addText("failed", error instanceof HostError ? error.message : text("broken_off"));
  } finally {
    settle();
    setRunning(null);
    document.querySelector("[data-retry]")?.removeAttribute("hidden");
    // Whoever decides on a card meanwhile keeps the focus, and a phone keeps its keyboard down.
    const here = document.activeElement;
    if ((here === document.body || here === stop) && matchMedia("(hover: hover)").matches) composer.text.focus();
  }
}

composer.addEventListener("submit", async (event) => {
  event.preventDefault();
  const words = composer.text.value;
  if (running || go.disabled || !words.trim()) return;
  await doing(go, async () => {
    if (!chat) {
      const { url } = await post("/chat", { text: words, upstream: document.querySelector("[data-upstream]")?.value ?? null });
      location.assign(url);
      return;
    }
    await post(`/chat/${chat}/messages`, { text: words });
    composer.text.value = "";
    composer.text.dispatchEvent(new Event("input", { bubbles: true }));
    addText("user", words);
    toEnd();
  });
  if (chat && !composer.text.value) await answer(false);
});

stop.addEventListener("click", () => running?.abort());

document.querySelector("[data-retry]")?.addEventListener("click", async () => {
  if (running) return;
  const asked = [...thread.querySelectorAll(".message-user")].at(-1);
  // Cards stay: they are decided on whatever the model says now.
  for (const old of thread.querySelectorAll(":scope > :not([data-proposal])")) {
    if (asked && asked.compareDocumentPosition(old) & Node.DOCUMENT_POSITION_FOLLOWING) old.remove();
  }
  await answer(true);
});

document.querySelector("[data-upstream]")?.addEventListener("change", async (event) => {
  if (chat) await doing(event.target, () => post(`/chat/${chat}/upstream`, { upstream: event.target.value }));
  showReach(event.target);
});

function showReach(select) {
  const chosen = select.selectedOptions[0];
  go.disabled = !chosen || chosen.disabled || chosen.hasAttribute("data-awaited");
  for (const line of document.querySelectorAll("[data-reach]")) line.hidden = line.dataset.reach !== select.selectedOptions[0]?.dataset.sees;
}

document.querySelector("[data-rename-form]")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  await doing(form.querySelector("[type=submit]"), async () => {
    await post(`/chat/${chat}/title`, { title: form.title.value });
    location.reload();
  });
});

document.querySelector("[data-delete-chat]")?.addEventListener("click", (event) =>
  doing(event.target, async () => {
    await post(`/chat/${chat}/delete`, {});
    location.assign("/");
  }),
);

for (const example of document.querySelectorAll("[data-example]")) {
  example.addEventListener("click", () => {
    composer.text.value = example.textContent.trim();
    composer.text.focus();
  });
}

/** Show how far the built-in model is, until it can answer. */
async function watchBuiltIn(place) {
  for (;;) {
    try {
      const { html, settled } = await get("/models/built-in");
      if (settled) {
        // What was typed meanwhile is there again after the reload.
        sessionStorage.setItem("typed", composer.text.value);
        location.reload();
        return;
      }
      place.querySelector("[data-built-in-state]").innerHTML = html;
    } catch {
      // The host is away for a moment; the next look tells.
    }
    await new Promise((resolve) => setTimeout(resolve, 1500));
  }
}

const typed = sessionStorage.getItem("typed");
sessionStorage.removeItem("typed");
if (typed) composer.text.value = typed;

const coming = document.querySelector("[data-built-in]");
if (coming) watchBuiltIn(coming);

const select = document.querySelector("[data-upstream]");
if (select) showReach(select);
toEnd();
if (thread.dataset.unanswered === "true" && !go.disabled) answer(false);
