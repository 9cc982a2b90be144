// Chooses light or dark before the page is shown, if the reader has chosen before.
'use strict';
(() => {
  try {
    const theme = localStorage.getItem('cotree-theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch { /* The browser keeps nothing for pages from a disk: the system's choice stands. */ }
})();
