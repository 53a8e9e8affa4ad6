/**
 * Keeps the page up to date. Sections come as HTML that the server has escaped. A question that somebody is answering is never touched
 * while it is open: only what is new is added, and what is over is taken away.
 */
export const SCRIPT = `
const live = document.getElementById('live');
const say = (text) => { live.textContent = text; };
const parse = (html) => { const box = document.createElement('template'); box.innerHTML = html; return box.content; };
function questions(section, content) {
  const now = new Map([...content.querySelectorAll('article')].map((card) => [card.id, card]));
  for (const card of [...section.querySelectorAll('article')]) {
    const fresh = now.get(card.id);
    if (!fresh) { if (card.contains(document.activeElement)) { section.focus(); say('This question is over.'); } card.remove(); }
    else if (fresh.dataset.version !== card.dataset.version && !card.contains(document.activeElement)) card.replaceWith(fresh);
  }
  let added = 0;
  for (const card of now.values()) if (!document.getElementById(card.id)) { section.append(card); added += 1; }
  const count = now.size;
  section.querySelector('.empty')?.remove();
  if (count === 0) { const none = content.querySelector('.empty'); if (none) section.append(none); }
  document.title = (count > 0 ? '(' + count + ') ' : '') + 'Writ';
  if (added > 0) say(count === 1 ? '1 question waits for an answer' : count + ' questions wait for an answer');
}
function update(id, html) {
  const section = document.getElementById(id);
  if (!section) return;
  const content = parse(html);
  if (id === 'questions') questions(section, content);
  else if (!section.contains(document.activeElement)) section.replaceChildren(content);
}
const state = document.getElementById('state');
const source = new EventSource('events');
source.addEventListener('section', (event) => { const { id, html } = JSON.parse(event.data); update(id, html); });
source.addEventListener('open', () => { state.textContent = 'live'; });
source.addEventListener('error', () => {
  state.textContent = source.readyState === 2 ? 'Not connected: open the page again with a new link (writ link).' : 'connecting again ...';
});
setInterval(() => {
  for (const card of document.querySelectorAll('[data-expires]')) {
    const left = Math.max(0, Math.round((Number(card.dataset.expires) - Date.now()) / 1000));
    const place = card.querySelector('.left');
    if (place) place.textContent = left > 90 ? Math.round(left / 60) + ' min' : left + ' s';
  }
}, 1000);
try { localStorage.setItem('writ', location.pathname); } catch {}
`;

/** Hands the key of a one-time link, which stands behind the # and so in no log and no Referer, over to the server. */
export const OPEN_SCRIPT = `
const key = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
if (key) { const form = document.getElementById('open'); form.elements.key.value = key; form.submit(); }
else document.getElementById('nokey').hidden = false;
`;

/** Whoever has opened the page in this browser before is sent there. */
export const HOME_SCRIPT = `
try {
  if (location.search === '?left') localStorage.removeItem('writ');
  const page = localStorage.getItem('writ');
  if (page && /^\\/op\\/[\\w-]+\\/$/.test(page)) location.replace(page + location.hash);
} catch {}
`;
