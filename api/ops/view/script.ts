/** Script that updates the page. Without scripts, browsers reload the page every 30 s (overviewPage in page.ts). */
export const SCRIPT = `
(() => {
  const state = document.getElementById('live');
  const showState = (word, kind) => { state.textContent = word; state.className = 'badge ' + kind; };
  const showSignedOut = () => {
    showState('signed out', 'bad');
    const link = document.createElement('a');
    link.href = '/ops';
    link.textContent = 'Sign in again';
    state.after(' ', link);
  };
  const postponed = new Map();
  const update = (part, html) => {
    const at = document.getElementById('part-' + part);
    if (!at) return;
    // Do not replace text while it is selected.
    const selection = getSelection();
    if (selection && !selection.isCollapsed && at.contains(selection.anchorNode)) { postponed.set(part, html); return; }
    postponed.delete(part);
    const focused = at.contains(document.activeElement) ? document.activeElement : null;
    const similar = focused ? [...at.querySelectorAll(focused.tagName)] : [];
    const scrolled = [...at.querySelectorAll('.tall, .scroll')].map((one) => [one.scrollTop, one.scrollLeft]);
    const key = focused && focused.getAttribute('href');
    const index = similar.indexOf(focused);
    at.innerHTML = html;
    [...at.querySelectorAll('.tall, .scroll')].forEach((one, n) => { [one.scrollTop, one.scrollLeft] = scrolled[n] || [0, 0]; });
    if (!focused) return;
    const now = [...at.querySelectorAll(focused.tagName)];
    (now.find((one) => key !== null && one.getAttribute('href') === key) || now[index] || at).focus({ preventScroll: true });
  };
  document.addEventListener('selectionchange', () => { for (const [part, html] of postponed) update(part, html); });
  const open = () => {
    const events = new EventSource('/ops/events' + location.search);
    events.addEventListener('open', () => showState('live', 'good'));
    events.addEventListener('part', (event) => { const { part, html } = JSON.parse(event.data); update(part, html); });
    events.addEventListener('signed-out', () => { events.close(); showSignedOut(); });
    events.addEventListener('error', async () => {
      showState('reconnecting', 'warn');
      if (events.readyState !== EventSource.CLOSED) return;
      // Rejected: signed out, or too many viewers.
      const answer = await fetch('/ops', { method: 'HEAD' }).catch(() => null);
      if (answer && answer.status === 401) return showSignedOut();
      setTimeout(open, 10000);
    });
  };
  open();
})();
`;
