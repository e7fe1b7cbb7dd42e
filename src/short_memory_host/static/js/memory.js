// The Memory tab: the editor of a note, new topics, undo, the add-on's switch. What was typed is never lost: a refusal
// leaves it where it is, a conflict shows both texts, and leaving with unsaved text asks.
import { doing, fillMeter, grow, HostError, post, replace, text, toast } from "./page.js";

const LATER = "memory-said";

/** Go to a page of this tab, or load this one again, and say something there. */
function goAndSay(message, address) {
  sessionStorage.setItem(LATER, message);
  if (address) location.assign(address);
  else location.reload();
}

const said = sessionStorage.getItem(LATER);
if (said) {
  sessionStorage.removeItem(LATER);
  toast(said);
}

/** Run something that may be refused; a refusal with a page of its own leads there. */
async function orShow(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HostError) || !error.found?.show) throw error;
    return { show: error.found.show, why: error.message };
  }
}

async function undo(button) {
  const { undo: change, digest } = button.dataset;
  const answer = await orShow(() => post(`/changes/${change}/revert`, digest ? { digest } : {}));
  if (answer.why && answer.show === location.pathname) goAndSay(answer.why);
  else if (answer.show) location.assign(answer.show);
  else if (editor?.unsaved()) replace(button.closest(".receipt"), answer.html);
  else goAndSay(text("undone"), digest ? "/account/memory" : undefined);
}

function showProblem(box, message) {
  box.textContent = message;
  box.hidden = false;
  box.scrollIntoView({ block: "nearest" });
}

async function makeTopic(form) {
  const problem = form.querySelector("[data-problem]");
  problem.hidden = true;
  const body = { at: form.dataset.at, name: form.elements.name.value, first: form.elements.first.value };
  try {
    goAndSay(text("topic_made"), (await post("/account/memory/topic", body)).url);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    showProblem(problem, error.message);
  }
}

/** The editor of one note: knows the version that the person saw and the text that is stored under it. */
class Editor {
  constructor(form) {
    this.form = form;
    this.area = form.elements.text;
    this.problem = form.querySelector("[data-problem]");
    this.keep = document.getElementById("keep");
    this.conflict = document.getElementById("conflict");
    this.version = form.dataset.version;
    this.stored = this.area.defaultValue;
    this.area.value = this.stored;
  }

  unsaved() {
    return this.area.value !== this.stored;
  }

  set(value) {
    this.area.value = value;
    fillMeter(document.querySelector(`[data-meter="${this.area.id}"]`), value);
    grow(this.area);
  }

  async save() {
    const sent = this.area.value;
    const kept = !this.keep.hidden && this.form.elements.keep_secrets.checked;
    const answer = await this.ask("/account/memory/note", { text: sent, keep_secrets: kept });
    if (!answer) return;
    this.stored = sent;
    this.version = answer.version;
    document.getElementById("delete").hidden = false;
    this.settle();
    document.getElementById("receipt").innerHTML = answer.html;
    // The receipt stands above the text, out of sight while one scrolls in a long note.
    toast(text("saved"));
  }

  async delete() {
    document.getElementById("delete-note").close();
    const answer = await this.ask("/account/memory/note/delete", {});
    if (!answer) return;
    this.stored = this.area.value;
    goAndSay(text("note_deleted"), "/account/memory");
  }

  /** Post about this note; a refusal is shown beside the text and gives undefined. */
  async ask(url, more) {
    this.problem.hidden = true;
    document.getElementById("receipt").textContent = "";
    try {
      return await post(url, { path: this.form.dataset.note, version: this.version, ...more });
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      this.refused(error);
      return undefined;
    }
  }

  refused(error) {
    const found = error.found ?? {};
    showProblem(this.problem, error.message);
    this.keep.hidden = error.code !== "secret";
    if (this.keep.hidden) this.form.elements.keep_secrets.checked = false;
    if (found.error?.line && found.error.file === this.form.dataset.note) this.mark(found.error.line);
    if (found.present && !found.present.why_not) this.clash(found.present);
  }

  /** Select a line, counted from 1, so that the eye and the next key find it. */
  mark(line) {
    const lines = this.area.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    this.area.focus();
    this.area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  }

  clash(present) {
    this.present = present;
    this.mine = this.area.value;
    document.getElementById("mine").textContent = this.mine;
    document.getElementById("theirs").textContent = present.version ? present.text : text("no_file");
    this.choose(false);
    this.conflict.hidden = false;
    this.conflict.focus();
  }

  choose(tookTheirs) {
    this.conflict.querySelector("[data-take-theirs]").hidden = tookTheirs;
    this.conflict.querySelector("[data-keep-mine]").hidden = tookTheirs;
    this.conflict.querySelector("[data-bring-back]").hidden = !tookTheirs;
  }

  async keepMine() {
    this.version = this.present.version;
    await this.save();
  }

  /** Their text goes into the field; mine stays in sight, and can be brought back, until the page is left. */
  takeTheirs() {
    this.version = this.present.version;
    this.stored = this.present.text;
    this.set(this.stored);
    this.problem.hidden = true;
    this.choose(true);
    this.conflict.querySelector("[data-bring-back]").focus();
  }

  bringBack() {
    this.set(this.mine);
    this.settle();
    this.area.focus();
  }

  settle() {
    this.keep.hidden = true;
    this.form.elements.keep_secrets.checked = false;
    this.conflict.hidden = true;
  }
}

const form = document.querySelector("[data-note]");
const editor = form && new Editor(form);

addEventListener("beforeunload", (event) => {
  if (editor?.unsaved()) event.preventDefault();
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-note], [data-new-topic]")) return;
  event.preventDefault();
  const button = event.target.querySelector("button[type=submit], button:not([type])");
  doing(button, () => (event.target === form ? editor.save() : makeTopic(event.target)));
});

document.addEventListener("keydown", (event) => {
  if (editor && event.key === "s" && (event.ctrlKey || event.metaKey) && !event.altKey) {
    event.preventDefault();
    form.requestSubmit();
  }
});

const clicks = {
  "[data-undo]": undo,
  "[data-agree]": async (button) => {
    await post("/account/memory/addon/agree", { digest: button.dataset.agree });
    goAndSay(text("agreed"));
  },
  "[data-delete-note]": () => editor.delete(),
  "[data-keep-mine]": () => editor.keepMine(),
  "[data-take-theirs]": () => editor.takeTheirs(),
  "[data-bring-back]": () => editor.bringBack(),
};

document.addEventListener("click", (event) => {
  for (const [selector, work] of Object.entries(clicks)) {
    const button = event.target.closest(selector);
    if (button) doing(button, async () => work(button));
  }
});

document.addEventListener("change", async (event) => {
  if (event.target.matches("[data-new-topic] [name=name]")) {
    event.target.value = event.target.value.trim().toLowerCase().replace(/[\s_]+/g, "-");
  }
  if (!event.target.matches("[data-switch]")) return;
  const on = event.target.checked;
  const done = await doing(event.target, async () => {
    await post("/account/memory/addon", { on });
    return true;
  });
  if (done) goAndSay(text(on ? "addon_on" : "addon_off"));
  else event.target.checked = !on;
});
