// The hierarchy editor: a dialog, and values that are dragged into groups or moved by the keyboard.
// Every change is a request; the server answers with the editor as it is then, so undo and reload are its business.
"use strict";

(() => {
  const dialog = document.getElementById("hierarchy-dialog");
  if (!dialog) return;
  const body = document.getElementById("hierarchy-body");
  const notice = document.getElementById("notice");
  const told = document.getElementById("hierarchy-notice");
  let opener = "";

  // ── the dialog ─────────────────────────────────────────────────────────────────────────────────

  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target !== body) return;
    const from = event.detail.requestConfig.elt;
    if (!dialog.open && from.dataset.opens === "hierarchy") {
      opener = from.id;
      dialog.showModal();
      dialog.scrollTop = 0;
      document.getElementById("hierarchy-title").focus();
    } else if (dialog.open && (document.activeElement === document.body || document.activeElement === dialog)) {
      // What had the focus is gone or cannot be used any more.
      document.getElementById("hierarchy-title").focus({ preventScroll: true });
    }
  });
  document.getElementById("hierarchy-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    // The card may have been drawn anew meanwhile.
    body.replaceChildren();
    told.replaceChildren();
    const button = document.getElementById(opener);
    if (button) button.focus();
  });
  // A message at the top of the page would be behind the dialog.
  for (const kind of ["htmx:responseError", "htmx:sendError"]) {
    document.addEventListener(kind, () => {
      if (dialog.open) told.replaceChildren(...notice.childNodes);
    });
  }
  document.addEventListener("htmx:beforeRequest", () => told.replaceChildren());

  // ── changes by hand ────────────────────────────────────────────────────────────────────────────

  const grouping = () => document.getElementById("grouping");

  function edit(action, values, members) {
    const form = grouping();
    const sent = { action, mark: form.elements.mark.value, level: form.elements.level.value, text: form.elements.text.value, ...values };
    if (members) sent["members[]"] = members;
    htmx.ajax("POST", form.dataset.edit, { source: body, target: body, swap: "innerHTML", values: sent });
  }

  function chosen() {
    return [...grouping().querySelectorAll("input[name='members[]']:checked")].map((one) => one.value);
  }

  function tellChosen() {
    const count = chosen().length;
    document.getElementById("chosen").textContent = count ? grouping().dataset.chosen.replace("{count}", count) : "";
  }

  body.addEventListener("change", (event) => {
    const form = grouping();
    if (!form || !form.contains(event.target)) return;
    if ("all" in event.target.dataset) {
      for (const one of event.target.closest("fieldset").querySelectorAll("input[name='members[]']")) {
        one.checked = event.target.checked;
      }
    }
    if (event.target.dataset.rename !== undefined) {
      edit("rename", { group: event.target.dataset.rename, name: event.target.value });
    } else {
      tellChosen();
    }
  });
  body.addEventListener("click", (event) => {
    const dissolve = event.target.closest("[data-dissolve]");
    if (dissolve) edit("dissolve", { group: dissolve.dataset.dissolve });
    if (event.target.closest("#take-out")) edit("take-out", {}, chosen());
  });
  body.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    if (event.target.dataset.rename !== undefined || event.target.type === "search") {
      // Enter ends the typing here; it moves nothing.
      event.preventDefault();
      if (event.target.dataset.rename !== undefined) event.target.dispatchEvent(new Event("change", { bubbles: true }));
    }
  });

  // ── dragging ───────────────────────────────────────────────────────────────────────────────────

  let dragged = null;

  function place(event) {
    return dragged && event.target.closest ? event.target.closest("[data-drop]") : null;
  }

  function unmark() {
    for (const one of body.querySelectorAll(".over")) one.classList.remove("over");
  }

  body.addEventListener("dragstart", (event) => {
    const chip = event.target.closest(".chip");
    if (!chip) return;
    const value = chip.querySelector("input").value;
    const all = chosen();
    dragged = all.includes(value) ? all : [value];
    event.dataTransfer.effectAllowed = "move";
    // No value of the data leaves the page: what is dragged is a place.
    event.dataTransfer.setData("text/plain", "");
  });
  body.addEventListener("dragend", () => {
    dragged = null;
    unmark();
  });
  body.addEventListener("dragover", (event) => {
    const target = place(event);
    unmark();
    if (!target) return;
    event.preventDefault();
    target.classList.add("over");
  });
  body.addEventListener("drop", (event) => {
    const target = place(event);
    if (!target) return;
    event.preventDefault();
    const members = dragged;
    dragged = null;
    unmark();
    if (target.dataset.drop === "") edit("take-out", {}, members);
    else if (target.dataset.drop === "new") edit("move", { name: "" }, members);
    else edit("move", { group: target.dataset.drop }, members);
  });
})();
