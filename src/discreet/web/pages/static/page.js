// The page's own few lines: sending a file piece by piece, and showing what went wrong in its place.
"use strict";

(() => {
  const notice = document.getElementById("notice");

  function tell(text) {
    const card = document.createElement("div");
    card.className = "card notice bad";
    card.textContent = text;
    notice.replaceChildren(card);
    notice.scrollIntoView({ block: "nearest" });
  }

  // ── a file ─────────────────────────────────────────────────────────────────────────────────────

  const drop = document.getElementById("drop");
  if (drop) {
    const input = document.getElementById("file");
    const panel = document.getElementById("upload");
    const words = document.getElementById("upload-words");
    const bar = document.getElementById("upload-bar");
    const stop = document.getElementById("upload-stop");

    function send(file) {
      notice.replaceChildren();
      if (file.size > Number(drop.dataset.maxSize)) {
        tell(drop.dataset.tooLarge);
        return;
      }
      const request = new XMLHttpRequest();
      request.open("POST", document.body.dataset.home + "/api/v1/tables?name=" + encodeURIComponent(file.name.slice(-200)));
      request.setRequestHeader("Content-Type", "application/octet-stream");
      request.responseType = "json";
      request.upload.addEventListener("progress", (event) => {
        const share = event.loaded / Math.max(event.total, 1);
        bar.value = share;
        words.textContent = `${drop.dataset.sending}: ${Math.floor(100 * share)} %`;
      });
      const failed = () => {
        panel.hidden = true;
        input.value = "";
        const told = request.response;
        tell(told && told.message ? `${told.message}. ${told.remedy}` : drop.dataset.aborted);
      };
      request.addEventListener("load", () => {
        if (request.status === 201) {
          window.location.assign(document.body.dataset.home + "/case/" + encodeURIComponent(request.response.id));
        } else {
          failed();
        }
      });
      request.addEventListener("error", failed);
      request.addEventListener("abort", () => {
        panel.hidden = true;
        input.value = "";
      });
      stop.onclick = () => request.abort();
      bar.value = 0;
      words.textContent = drop.dataset.sending;
      panel.hidden = false;
      request.send(file);
    }

    input.addEventListener("change", () => input.files.length && send(input.files[0]));
    // Whoever is quicker than this script has chosen already.
    if (input.files.length) send(input.files[0]);
    for (const kind of ["dragenter", "dragover"]) {
      document.addEventListener(kind, (event) => {
        event.preventDefault();
        drop.classList.add("over");
      });
    }
    for (const kind of ["dragleave", "drop"]) {
      document.addEventListener(kind, () => drop.classList.remove("over"));
    }
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
    });
  }

  // ── steps ──────────────────────────────────────────────────────────────────────────────────────

  // One step is open at a time; the address names it, so that a reload finds it again.
  const panels = [...document.querySelectorAll("[data-steps]")];
  const names = new Set(panels.flatMap((panel) => panel.dataset.steps.split(" ")));
  let step = null;
  let chosen = false;
  function mark() {
    for (const link of document.querySelectorAll(".steps [data-opens-step]")) {
      if (link.dataset.opensStep === step) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
  }
  function show(name) {
    if (!names.has(name)) return;
    step = name;
    for (const panel of panels) panel.hidden = !panel.dataset.steps.split(" ").includes(name);
    mark();
  }
  if (panels.length) {
    const asked = window.location.hash.slice(1);
    chosen = names.has(asked);
    show(chosen ? asked : document.getElementById("bar").dataset.suggested);
    document.addEventListener("click", (event) => {
      const opener = event.target.closest("[data-opens-step]");
      if (!opener) return;
      if (opener.matches("a")) event.preventDefault();
      chosen = true;
      show(opener.dataset.opensStep);
      history.replaceState(null, "", `#${step}`);
      window.scrollTo({ top: 0 });
    });
    window.addEventListener("hashchange", () => show(window.location.hash.slice(1)));
    document.addEventListener("htmx:load", (event) => {
      if (event.detail.elt.id !== "bar") return;
      // What could not be read is told in its own step, unless somebody has chosen another.
      if (!chosen) show(event.detail.elt.dataset.suggested);
      mark();
    });
  }

  // A section that is drawn anew keeps open what was open.
  const unfolded = new Map();
  document.addEventListener("htmx:beforeSwap", (event) => {
    const section = event.detail.target;
    if (!section || !section.matches("section.part")) return;
    unfolded.set(section.id, [...section.querySelectorAll("details.fold[open]")].map((one) => one.id));
  });
  document.addEventListener("htmx:load", (event) => {
    const section = event.detail.elt;
    for (const id of unfolded.get(section.id) || []) {
      const fold = document.getElementById(id);
      if (fold) fold.open = true;
    }
    unfolded.delete(section.id);
  });

  // ── columns ────────────────────────────────────────────────────────────────────────────────────

  function search() {
    const field = document.getElementById("column-search");
    const wanted = field ? field.value.trim().toLowerCase() : "";
    for (const row of document.querySelectorAll("#columns tr[data-name]"))
      row.hidden = !row.dataset.name.includes(wanted);
    if (wanted) for (const one of document.querySelectorAll("#columns .card details.fold")) one.open = true;
  }
  document.addEventListener("input", (event) => event.target.id === "column-search" && search());
  document.addEventListener("htmx:load", (event) => event.detail.elt.id === "columns" && search());

  // ── the rest ───────────────────────────────────────────────────────────────────────────────────

  document.addEventListener("input", (event) => {
    const shown = event.target.dataset && event.target.dataset.shownIn;
    if (!shown) return;
    const value = Number(event.target.value);
    const times = event.target.dataset.shownAs === "times";
    document.getElementById(shown).textContent = times ? `×${value}` : `${Math.round(100 * value)}%`;
  });

  // ── explanations ───────────────────────────────────────────────────────────────────────────────

  // A tap or a key opens an explanation by itself; a mouse only has to point at it.
  let pointed = null;
  function close(one) {
    one.open = false;
    if (pointed === one) pointed = null;
  }
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const why = event.target.closest && event.target.closest("details.why");
    if (pointed && pointed !== why) close(pointed);
    if (why && !why.open) {
      why.open = true;
      pointed = why;
    }
  });
  document.addEventListener("click", (event) => {
    const summary = event.target.closest("details.why > summary");
    if (summary && pointed === summary.parentElement) {
      // It is open already, because the mouse is there: the click makes it stay.
      event.preventDefault();
      pointed = null;
    }
    for (const one of document.querySelectorAll("details.why[open]")) {
      if (!one.contains(event.target)) close(one);
    }
  });
  // The glossary lies above the page, and goes when somebody turns to the page again.
  const glossary = document.getElementById("glossary");
  document.addEventListener("click", (event) => {
    if (glossary.open && !glossary.contains(event.target)) glossary.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (glossary.open) {
      glossary.open = false;
      document.getElementById("glossary-open").focus();
    }
    for (const one of document.querySelectorAll("details.why[open]")) {
      if (one.contains(document.activeElement)) one.querySelector("summary").focus();
      close(one);
    }
  });

  // An explanation that would reach beyond the window moves to the left.
  function place(why) {
    const tip = why.querySelector(".tip");
    if (!tip) return;
    tip.style.left = "";
    const over = tip.getBoundingClientRect().right + 8 - document.documentElement.clientWidth;
    if (over > 0) tip.style.left = `${tip.offsetLeft - over}px`;
  }
  document.addEventListener(
    "toggle",
    (event) => event.target.matches("details.why[open]") && place(event.target),
    true,
  );
  window.addEventListener("resize", () => document.querySelectorAll("details.why[open]").forEach(place));

  // ── presses ────────────────────────────────────────────────────────────────────────────────────

  // While its job is under way a section is drawn anew again and again; not under a finger, though: the press would
  // miss its button.
  let pressed = null;
  let held = null;
  document.addEventListener("pointerdown", (event) => {
    pressed = event.target.closest("section.part");
  });
  function released() {
    const section = held;
    pressed = held = null;
    if (!section) return;
    // The click comes after the release: it goes first.
    setTimeout(() => {
      if (!section.isConnected) return;
      htmx.ajax("get", section.getAttribute("hx-get"), { source: section, target: section, swap: "outerHTML" });
    }, 200);
  }
  document.addEventListener("pointerup", released);
  document.addEventListener("pointercancel", released);
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!pressed || event.detail.target !== pressed || event.detail.requestConfig.verb !== "get") return;
    event.detail.shouldSwap = false;
    held = pressed;
  });

  // ── changes ────────────────────────────────────────────────────────────────────────────────────

  // A form that was drawn anew while its request was under way can tell nobody any more what it has changed.
  document.addEventListener("htmx:beforeSend", (event) => {
    const { elt, xhr } = event.detail;
    xhr.addEventListener("readystatechange", () => {
      if (xhr.readyState !== XMLHttpRequest.DONE || elt.isConnected) return;
      const changed = xhr.getResponseHeader("HX-Trigger");
      if (changed) htmx.trigger(document.body, changed);
    });
  });

  // What a section is about to see when something changes may be from before the change: it looks once more.
  const again = new Set();
  document.addEventListener(
    "case-changed",
    () => document.querySelectorAll("section.part.htmx-request").forEach((section) => again.add(section.id)),
    true,
  );
  document.addEventListener("htmx:load", (event) => {
    const section = event.detail.elt;
    if (!again.delete(section.id)) return;
    htmx.ajax("get", section.getAttribute("hx-get"), { source: section, target: section, swap: "outerHTML" });
  });

  // ── failures ───────────────────────────────────────────────────────────────────────────────────

  // A request that failed says so at the top; what was shown stays.
  document.addEventListener("htmx:responseError", (event) => {
    const text = event.detail.xhr.responseText;
    notice.innerHTML = text;
    notice.scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("htmx:sendError", () => tell(document.body.dataset.gone));
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.requestConfig.verb !== "get") notice.replaceChildren();
  });
})();
