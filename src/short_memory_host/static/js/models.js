// The page of models: the test button, the switch for the person's notes, and the state of the built-in model while it comes.

import { doing, get, post, text, toast } from "./page.js";

function showLines(list, lines) {
  list.replaceChildren(
    ...lines.map((line) => {
      const item = document.createElement("li");
      item.className = line.ok ? "ok" : "not-ok";
      item.textContent = `${line.ok ? text("test_ok") : text("test_not_ok")}: ${line.text}`;
      return item;
    }),
  );
}

for (const button of document.querySelectorAll('button[name="test"]')) {
  button.addEventListener("click", () =>
    doing(button, async () => {
      const list = button.closest("[data-upstream]").querySelector("[data-test-lines]");
      list.textContent = text("testing");
      try {
        showLines(list, (await post(`/models/${button.value}/test`)).lines);
      } catch (error) {
        list.replaceChildren();
        throw error;
      }
    }),
  );
}

for (const tick of document.querySelectorAll('input[name="given"]')) {
  tick.addEventListener("change", async () => {
    const given = tick.checked;
    const { upstream, reach } = tick.closest("[data-upstream]").dataset;
    const done = await doing(tick, async () => {
      await post(`/models/${upstream}/consent`, { given, seen: reach });
      return true;
    });
    if (done) toast(text(given ? "consent_given" : "consent_withdrawn"));
    else tick.checked = !given;
  });
}

const state = document.querySelector("[data-built-in]");
async function refresh() {
  const { html, settled } = await get("/models/built-in");
  state.innerHTML = html;
  if (!settled) setTimeout(refresh, 1000);
}
if (state) refresh().catch(() => {});
