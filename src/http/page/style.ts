/** The whole look, inline: no file of ours or of others is fetched. Colours meet WCAG AA in both schemes. */
export const STYLE = `
:root { color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #14171c); --sheet: light-dark(#ffffff, #1d2128); --ink: light-dark(#171a20, #e8eaee);
  --quiet: light-dark(#565d69, #a4acb9); --line: light-dark(#d5d9e0, #363c47); --code: light-dark(#eef0f4, #11141a);
  --go: light-dark(#1a6b3c, #267d4a); --stop: light-dark(#a8231c, #c9443b); --warn: light-dark(#7a4b00, #f0b75a); --warn-ground: light-dark(#fff3da, #33270f);
  --focus: light-dark(#0b57d0, #8ab4f8); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
header, main { max-width: 60rem; margin: 0 auto; padding: 0 1rem; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; padding-block: 1rem; }
header h1 { margin: 0; font-size: 1.25rem; } header form { margin-left: auto; }
h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; } h3 { font-size: 1rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
.card, table, .empty { background: var(--sheet); border: 1px solid var(--line); border-radius: .5rem; }
.card { padding: 1rem; margin: 0 0 1rem; border-left: .3rem solid var(--warn); }
.empty { padding: 1rem; color: var(--quiet); margin: 0; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: .3rem; padding: .6rem .8rem; margin: 0 0 .75rem; max-height: 22rem;
  overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font: 14px/1.45 ui-monospace, monospace; }
code { font: 14px ui-monospace, monospace; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem .9rem; margin: 0 0 .75rem; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; } dd ul { margin: 0; padding-left: 1.1rem; }
fieldset { border: 1px solid var(--line); border-radius: .3rem; margin: 0 0 .75rem; padding: .5rem .8rem; min-width: 0; } legend { padding: 0 .3rem; }
label { display: block; margin: .25rem 0; overflow-wrap: anywhere; } label.inline { display: inline-block; margin-right: 1rem; }
input[type=text], textarea, select { width: 100%; max-width: 100%; padding: .45rem .55rem; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--quiet); border-radius: .3rem; }
input[type=checkbox], input[type=radio] { width: 1.1rem; height: 1.1rem; vertical-align: -.15rem; margin-right: .4rem; }
button { font: inherit; font-weight: 600; min-height: 2.6rem; padding: .35rem 1rem; border-radius: .3rem; border: 1px solid var(--quiet); background: transparent; color: inherit; cursor: pointer; white-space: nowrap; }
button.go { background: var(--go); border-color: var(--go); color: #fff; } button.stop { background: var(--stop); border-color: var(--stop); color: #fff; }
button:disabled { opacity: .5; cursor: default; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
a { color: inherit; }
.plain { border-left-width: 1px; border-left-color: var(--line); } textarea { font: 14px/1.45 ui-monospace, monospace; }
.tools { list-style: none; margin: 0; padding: 0; } .tools li { background: var(--sheet); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; margin: 0 0 .6rem; } .tools p { margin: 0 0 .5rem; overflow-wrap: anywhere; }
.row { margin-top: .75rem; display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; } details { margin-top: .75rem; } summary { cursor: pointer; padding: .3rem 0; }
.warn { background: var(--warn-ground); border: 1px solid var(--warn); border-radius: .3rem; padding: .5rem .8rem; margin: 0 0 .75rem; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); } .said { margin: 0 0 1rem; padding: .6rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--sheet); }
.effect { display: inline-block; padding: 0 .5rem; border: 1px solid var(--warn); border-radius: 1rem; color: var(--warn); font-size: .875rem; margin: 0 .3rem .2rem 0; }
table { width: 100%; border-collapse: separate; border-spacing: 0; } th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
tr:last-child > td { border-bottom: 0; } th { font-weight: 600; color: var(--quiet); font-size: .875rem; } td form { margin: 0; }
td time, td.nowrap { white-space: nowrap; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 40rem) { thead { display: none; } table, tbody, tr, td { display: block; } td { border: 0; padding: .2rem .75rem; } tr { padding: .4rem 0; border-bottom: 1px solid var(--line); }
  tr:last-child { border-bottom: 0; } td:empty { display: none; } td::before { content: attr(data-label) ' '; color: var(--quiet); font-size: .875rem; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .4rem; } }
`;
