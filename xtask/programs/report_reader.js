// What the scripts need that read the pages of `cotree html` as a reader does: it stands in front of each of them.

// A frame takes real time, and the clock of a page that nobody sees does not wait for it.
globalThis.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()));

/// Waits for what `found` finds, and gives it.
const until = (found) =>
  new Promise((resolve) => {
    const timer = setInterval(() => {
      const what = found();
      if (what) (clearInterval(timer), resolve(what));
    }, 20);
  });

/// The address of the view that is shown.
const shown = () => document.documentElement.dataset.shown;

const go = async (hash) => {
  location.hash = hash;
  await until(() => shown() === hash);
};

const all = (selector, of = document) => [...of.querySelectorAll(selector)];
const text = (selector, of = document) => of.querySelector(selector)?.textContent ?? '';
const button = (name, of = document) => all('button', of).find((button) => button.textContent === name);

/// The digits of a figure.
const number = (text) => text.replaceAll(',', '').trim();

/// Leaves the answers for the test.
const answer = (answers) => (document.body.dataset.answers = JSON.stringify(answers));
