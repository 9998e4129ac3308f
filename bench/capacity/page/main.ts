import type { Costs } from "../costs.ts";
import { INPUTS, readDemand } from "../demand.ts";
import { latencyPlot } from "../latency-plot.ts";
import { planFor } from "../plan.ts";
import { plotFigure } from "../plot.ts";
import { commandOf, planRows } from "../rows.ts";

/** Makes the plan anew, in the reader's browser, whenever a number of the form changes. */
function main(): void {
  const form = document.querySelector("form");
  const measured = document.getElementById("measured")?.textContent;
  if (form === null || measured == null) return;
  const costs: Costs = JSON.parse(measured);
  form.addEventListener("input", () => recompute(form, costs));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => recompute(form, costs)));
}

function recompute(form: HTMLFormElement, costs: Costs): void {
  const texts = Object.fromEntries(INPUTS.map(({ option }) => [option, fieldOf(form, option).value]));
  const demand = readDemand(texts, "page");
  const wrong = new Map(
    "wrong" in demand ? demand.wrong.map(({ option, message }) => [option, message]) : [],
  );
  for (const { option } of INPUTS) showFault(form, option, wrong.get(option) ?? null);
  const result = document.getElementById("plan");
  if (result === null) return;
  result.classList.toggle("stale", "wrong" in demand);
  if ("wrong" in demand) return;
  const table = document.createElement("tbody");
  for (const [what, value] of planRows(demand, planFor(demand, costs))) {
    const row = table.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = what;
    row.append(head);
    row.insertCell().textContent = value;
  }
  result.querySelector("tbody")?.replaceWith(table);
  const line = document.getElementById("command");
  if (line !== null) line.textContent = commandOf(demand);
  const plot = document.getElementById("latency");
  if (plot !== null) plot.outerHTML = plotFigure(latencyPlot(costs.curve, demand.p99MsMax));
}

function fieldOf(form: HTMLFormElement, option: string): HTMLInputElement {
  const field = form.elements.namedItem(option);
  if (!(field instanceof HTMLInputElement)) throw new Error(`no field ${option}`);
  return field;
}

function showFault(form: HTMLFormElement, option: string, message: string | null): void {
  fieldOf(form, option).setAttribute("aria-invalid", `${message !== null}`);
  const place = document.getElementById(`${option}-fault`);
  if (place !== null) place.textContent = message ?? "";
}

main();
