"use strict";
(() => {
  const digits = new Intl.NumberFormat("en-US");
  const say = {
    plain: (value) => (typeof value === "number" ? digits.format(value) : "–"),
    signed: (value) => (typeof value === "number" ? (value > 0 ? "+" : "") + digits.format(value) : "–"),
    text: (value) => String(value),
  };

  // A chart shows one call after the other: by mouse, by touch, by the arrow keys.
  const start = (chart) => {
    const data = JSON.parse(chart.querySelector("script").textContent);
    const plot = chart.querySelector(".plot");
    const cursor = chart.querySelector(".cursor");
    const dot = chart.querySelector(".dot");
    const head = chart.querySelector(".head");
    const slots = [...chart.querySelectorAll(".slots dd span[data-form]")];
    const columns = [...chart.querySelectorAll(".column")];
    const names = slots.map((slot) => slot.dataset.name);
    const last = data.heads.length - 1;
    let at = last;

    const show = (place) => {
      at = Math.min(last, Math.max(0, place));
      const values = data.values[at];
      const said = slots.map((slot, index) => say[slot.dataset.form](values[index]));
      slots.forEach((slot, index) => { slot.textContent = said[index]; });
      head.textContent = data.heads[at];
      const x = `${(100 * (at + 0.5)) / (last + 1)}%`;
      const height = data.heights ? data.heights[at] : values[0];
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", `${100 - (100 * height) / data.top}%`);
      columns.forEach((column, index) => column.classList.toggle("on", index === at));
      cursor.classList.toggle("off", columns.length > 0);
      dot.classList.toggle("off", columns.length > 0);
      plot.setAttribute("aria-valuenow", String(at + 1));
      plot.setAttribute("aria-valuetext", [data.heads[at], ...said.map((one, index) => `${names[index]} ${one}`)].join(", "));
    };

    plot.tabIndex = 0;
    plot.setAttribute("role", "slider");
    plot.setAttribute("aria-valuemin", "1");
    plot.setAttribute("aria-valuemax", String(last + 1));
    plot.setAttribute("aria-valuenow", String(last + 1));
    plot.setAttribute("aria-valuetext", data.heads[last]);
    const point = (event) => {
      const box = plot.getBoundingClientRect();
      show(Math.floor(((event.clientX - box.left) / box.width) * (last + 1)));
    };
    plot.addEventListener("pointermove", point);
    plot.addEventListener("pointerdown", point);
    plot.addEventListener("focus", () => show(at));
    plot.addEventListener("keydown", (event) => {
      const to = {
        ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1,
        PageDown: at - 10, PageUp: at + 10, Home: 0, End: last,
      }[event.key];
      if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      show(to);
    });
  };

  // A page from a file may have no clipboard, and one that it has may refuse.
  const write = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.readOnly = true;
      area.className = "offscreen";
      document.body.append(area);
      area.select();
      let done = false;
      try {
        done = document.execCommand("copy");
      } catch {
        done = false;
      }
      area.remove();
      return done;
    }
  };

  const offer = (button) => {
    const body = document.getElementById(button.dataset.copy);
    const label = button.textContent;
    let timer = 0;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const done = await write(body.textContent);
      button.focus({ preventScroll: true });
      if (!done) getSelection().selectAllChildren(body);
      button.textContent = done ? "Copied" : "Selected";
      clearTimeout(timer);
      timer = setTimeout(() => { button.textContent = label; }, 2500);
    });
  };

  document.querySelectorAll(".chart").forEach(start);
  document.querySelectorAll("button[data-copy]").forEach(offer);
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
  });
})();
