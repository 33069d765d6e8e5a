// Runs before the page is painted, so that a chosen theme does not flash.
try {
  const theme = localStorage.getItem('guide-theme');
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the theme of the system applies.
}
