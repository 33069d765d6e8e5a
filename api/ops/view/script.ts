/** Script that updates the page. Without it, the page shows the state at loading. */
export const SCRIPT = `
(() => {
  const state = document.getElementById('live');
  const showState = (word, kind) => { state.textContent = word; state.className = 'badge ' + kind; };
  const over = () => {
    showState('signed out', 'bad');
    const link = document.createElement('a');
    link.href = '/ops';
    link.textContent = 'Sign in again';
    state.after(' ', link);
  };
  const later = new Map();
  const put = (part, html) => {
    const at = document.getElementById('part-' + part);
    if (!at) return;
    // Do not replace text while it is selected.
    const selection = getSelection();
    if (selection && !selection.isCollapsed && at.contains(selection.anchorNode)) { later.set(part, html); return; }
    later.delete(part);
    const held = at.contains(document.activeElement) ? document.activeElement : null;
    const places = held ? [...at.querySelectorAll(held.tagName)] : [];
    const scrolled = [...at.querySelectorAll('.tall, .scroll')].map((one) => [one.scrollTop, one.scrollLeft]);
    const key = held && held.getAttribute('href');
    const index = places.indexOf(held);
    at.innerHTML = html;
    [...at.querySelectorAll('.tall, .scroll')].forEach((one, n) => { [one.scrollTop, one.scrollLeft] = scrolled[n] || [0, 0]; });
    if (!held) return;
    const now = [...at.querySelectorAll(held.tagName)];
    (now.find((one) => key !== null && one.getAttribute('href') === key) || now[index] || at).focus({ preventScroll: true });
  };
  document.addEventListener('selectionchange', () => { for (const [part, html] of later) put(part, html); });
  const open = () => {
    const events = new EventSource('/ops/events' + location.search);
    events.addEventListener('open', () => showState('live', 'good'));
    events.addEventListener('part', (event) => { const { part, html } = JSON.parse(event.data); put(part, html); });
    events.addEventListener('over', () => { events.close(); over(); });
    events.addEventListener('error', async () => {
      showState('reconnecting', 'warn');
      if (events.readyState !== EventSource.CLOSED) return;
      // Rejected: signed out, or too many viewers.
      const answer = await fetch('/ops', { method: 'HEAD' }).catch(() => null);
      if (answer && answer.status === 401) return over();
      setTimeout(open, 10000);
    });
  };
  open();
})();
`;
