// Cards and receipts, wherever they stand: confirm, decline, propose again, undo. The host draws every state anew.
import { doing, HostError, replace, send, text, toast } from "./page.js";

async function decide(button) {
  const card = button.closest("[data-proposal]");
  const verb = button.dataset.decide;
  const body = verb === "confirm" ? { digest: card.dataset.digest } : {};
  let answer;
  try {
    answer = await (await send("POST", `/proposals/${card.dataset.proposal}/${verb}`, body)).json();
  } catch (error) {
    // The notes moved on: the answer holds the card as it stands now.
    if (!(error instanceof HostError) || !error.found?.html) throw error;
    answer = error.found;
    toast(error.message, "bad");
  }
  replace(card, answer.html).focus();
}

async function undo(button) {
  const change = button.dataset.undo;
  let answer;
  try {
    answer = await (await send("POST", `/changes/${change}/revert`, {})).json();
  } catch (error) {
    // Later work touches the same lines: the page it names shows both texts.
    if (!(error instanceof HostError) || !error.found?.show) throw error;
    answer = error.found;
  }
  if (answer.show) {
    location.assign(answer.show);
    return;
  }
  for (const line of document.querySelectorAll(`[data-undo="${CSS.escape(change)}"]`)) {
    line.closest(".receipt").querySelector(".receipt-text").textContent = text("undone");
    line.remove();
  }
  toast(text("undone"));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-decide], [data-undo]");
  if (button) doing(button, () => (button.dataset.decide ? decide(button) : undo(button)));
});
