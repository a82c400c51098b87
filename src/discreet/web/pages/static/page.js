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

    // One after the other: a single file opens at once, of several the list says how each stands.
    function send(files, place = 0) {
      const file = files[place];
      const label = files.length > 1
        ? drop.dataset.sendingOf.replace("{n}", place + 1).replace("{m}", files.length)
        : drop.dataset.sending;
      const missed = (text) => {
        panel.hidden = true;
        input.value = "";
        tell(files.length > 1 ? `${file.name}: ${text}` : text);
        if (place > 0) htmx.ajax("get", document.body.dataset.home + "/", { target: "#at-work", select: "#at-work", swap: "outerHTML" });
      };
      notice.replaceChildren();
      if (file.size > Number(drop.dataset.maxSize)) {
        missed(drop.dataset.tooLarge);
        return;
      }
      const request = new XMLHttpRequest();
      request.open("POST", document.body.dataset.home + "/api/v1/tables?name=" + encodeURIComponent(file.name.slice(-200)));
      request.setRequestHeader("Content-Type", "application/octet-stream");
      request.responseType = "json";
      request.upload.addEventListener("progress", (event) => {
        const share = event.loaded / Math.max(event.total, 1);
        bar.value = share;
        words.textContent = `${label}: ${Math.floor(100 * share)} %`;
      });
      const failed = () => {
        const told = request.response;
        missed(told && told.message ? `${told.message}. ${told.remedy}` : drop.dataset.aborted);
      };
      request.addEventListener("load", () => {
        if (request.status !== 201) failed();
        else if (place + 1 < files.length) send(files, place + 1);
        else
          window.location.assign(
            document.body.dataset.home + (files.length > 1 ? "/" : "/case/" + encodeURIComponent(request.response.id)),
          );
      });
      request.addEventListener("error", failed);
      request.addEventListener("abort", () => {
        panel.hidden = true;
        input.value = "";
      });
      stop.onclick = () => request.abort();
      bar.value = 0;
      words.textContent = label;
      panel.hidden = false;
      request.send(file);
    }

    input.addEventListener("change", () => input.files.length && send([...input.files]));
    // Whoever is quicker than this script has chosen already.
    if (input.files.length) send([...input.files]);
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
      if (event.dataTransfer.files.length) send([...event.dataTransfer.files]);
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
      // What is said beside a question leads to its answer.
      const fold = document.getElementById(`fold-${opener.dataset.opensFold}`);
      if (!fold) return;
      fold.open = true;
      fold.firstElementChild.focus();
    });
    window.addEventListener("hashchange", () => show(window.location.hash.slice(1)));
    document.addEventListener("htmx:load", (event) => {
      if (event.detail.elt.id !== "bar") return;
      // What could not be read is told in its own step, unless somebody has chosen another.
      if (!chosen) show(event.detail.elt.dataset.suggested);
      mark();
    });
  }

  // A section that is drawn anew keeps open what was open, and what was picked or typed but not sent.
  const left = new Map();
  document.addEventListener("htmx:beforeSwap", (event) => {
    const section = event.detail.target;
    if (!section || !section.matches("section.part")) return;
    left.set(section.id, {
      open: [...section.querySelectorAll("details.fold[open]")].map((one) => one.id),
      kept: [...section.querySelectorAll("[data-kept]")].map((one) => [one.id, one.value, one.checked]),
    });
  });
  document.addEventListener("htmx:load", (event) => {
    const section = event.detail.elt;
    const { open, kept } = left.get(section.id) || { open: [], kept: [] };
    left.delete(section.id);
    for (const id of open) {
      const fold = document.getElementById(id);
      if (fold) fold.open = true;
    }
    for (const [id, value, checked] of kept) {
      const field = document.getElementById(id);
      if (field) [field.value, field.checked] = [value, checked];
    }
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
  // What was picked has its role now.
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt.id !== "bulk" || !event.detail.successful) return;
    for (const pick of document.querySelectorAll("[form=bulk]")) pick.checked = false;
  });

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

  // ── what is out of date ────────────────────────────────────────────────────────────────────────

  // Every section bears a stamp of what it shows. The page asks for the stamps of now, and draws anew what bears
  // another one, until all are alike and no work is under way; and again after every request of its own. So it does
  // not matter who has changed what and when, or in which order answers come.
  const address = window.location.pathname;
  const RETRY = 2000;
  const AGAIN = 200;
  let asking = null;
  let timer = null;
  let gone = false;
  function look(pause) {
    clearTimeout(timer);
    timer = setTimeout(ask, pause);
  }
  function ask() {
    // What is asked before a change may be answered before it, too.
    if (asking) asking.abort();
    const request = (asking = new XMLHttpRequest());
    request.open("GET", `${address}/state`);
    request.setRequestHeader("HX-Request", "true");
    request.addEventListener("loadend", () => {
      if (asking === request) asking = null;
    });
    request.addEventListener("load", () => {
      if (gone) notice.replaceChildren();
      gone = false;
      if (request.status === 200) return renew(JSON.parse(request.responseText));
      notice.innerHTML = request.responseText;
      // A table that is gone stays so; what fails now may answer soon.
      gone = request.status >= 500;
      if (gone) look(RETRY);
    });
    request.addEventListener("error", () => {
      if (!gone) tell(document.body.dataset.gone);
      gone = true;
      look(RETRY);
    });
    request.send();
  }
  function renew({ stamps, shape, progress, pause }) {
    // What is taken for something else has other steps.
    if (shape !== document.getElementById("bar").dataset.shape) return window.location.reload();
    for (const place of document.querySelectorAll("[data-progress]"))
      if (place.dataset.progress in progress) place.innerHTML = progress[place.dataset.progress];
    let current = !document.querySelector(".htmx-request");
    for (const section of document.querySelectorAll("section.part")) {
      if (section.dataset.stamp === stamps[section.id]) continue;
      current = false;
      // Its own request comes first, and a press would miss its button: both look again afterwards.
      if (section === pressed || section.matches(".htmx-request") || section.querySelector(".htmx-request")) continue;
      htmx.ajax("get", `${address}/section/${section.id}`, { source: section, target: section, swap: "outerHTML" });
    }
    document.body.toggleAttribute("data-current", current);
    // What was skipped may never ask by itself: a section bears the mark of its request for a moment longer than that.
    if (!current) look(Math.min(pause ?? AGAIN, AGAIN));
    else if (pause !== null) look(pause);
  }
  let pressed = null;
  if (document.getElementById("bar")) {
    document.addEventListener("htmx:beforeSend", (event) => {
      const { xhr, requestConfig } = event.detail;
      document.body.removeAttribute("data-current");
      // A form that was drawn anew meanwhile hears of no answer, so that its request is asked itself.
      xhr.addEventListener("loadend", () => look(requestConfig.verb === "get" && xhr.status >= 400 ? RETRY : 0));
    });
    document.addEventListener("pointerdown", (event) => {
      // Another button opens a menu of the browser, which keeps the release to itself.
      if (event.button === 0) pressed = event.target.closest("section.part");
    });
    document.addEventListener("change", (event) => {
      // So does the list of a select.
      if (!pressed || !event.target.matches("select")) return;
      pressed = null;
      look(200);
    });
    for (const kind of ["pointerup", "pointercancel"]) {
      document.addEventListener(kind, () => {
        if (!pressed) return;
        pressed = null;
        // The click comes after the release: it goes first.
        look(200);
      });
    }
    document.addEventListener("htmx:beforeSwap", (event) => {
      if (pressed && event.detail.target === pressed && event.detail.requestConfig.verb === "get")
        event.detail.shouldSwap = false;
    });
    // What is downloaded may have to be drawn first: no request of the page's own tells of that.
    document.addEventListener("click", (event) => event.target.closest("a[href*='/download/']") && look(AGAIN));
    // Another tab may have changed something.
    document.addEventListener("visibilitychange", () => document.hidden || look(0));
    window.addEventListener("load", () => look(0));
  }

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
