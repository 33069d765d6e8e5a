/** Styles of the operator page. They load no other resources. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #17202b; --soft: #5d6a79; --line: #dde3ea; --paper: #fff; --ground: #f2f4f7; --head: #f7f9fb; --mark: #0b62bd; --good: #187a3a; --good-bg: #e3f4e8; --warn: #8a5a00; --warn-bg: #fdf0d5; --bad: #b3261e; --bad-bg: #fbe4e2; --busy: #0b62bd; --busy-bg: #e2eefb; --off: #5d6a79; --off-bg: #e9edf1 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf1; --soft: #9aa7b6; --line: #2c3744; --paper: #171f29; --ground: #0e141b; --head: #1c2631; --mark: #6cb4ff; --good: #6fd08c; --good-bg: #15301f; --warn: #f0c061; --warn-bg: #352a10; --bad: #ff9a92; --bad-bg: #3a1b19; --busy: #7cbcff; --busy-bg: #14293f; --off: #9aa7b6; --off-bg: #232d38 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: .9rem/1.45 system-ui, sans-serif }
a { color: var(--mark); text-underline-offset: .15em }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; border-radius: .2rem }
.skip { position: absolute; left: -100vw } .skip:focus { left: 1rem; top: .5rem; z-index: 2; background: var(--paper); padding: .5rem 1rem }
.top { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; align-items: center; padding: .6rem 1.5rem; background: var(--paper); border-bottom: 1px solid var(--line) }
.top h1 { font-size: 1.05rem; margin: 0 } .top h1 span { color: var(--soft); font-weight: 400 }
.top .room { flex: 1 } .top form { margin: 0 }
main { max-width: 96rem; margin: 0 auto; padding: 1.25rem 1.5rem 3rem; display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1fr) }
.tiles { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)) }
.tile { background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; padding: .75rem 1rem }
.tile b { display: block; font-size: 1.6rem; line-height: 1.2; font-weight: 600; font-variant-numeric: tabular-nums }
.tile h2 { font-size: .8rem; font-weight: 500; margin: 0; color: var(--soft) } .tile p { margin: .1rem 0 0; color: var(--soft); font-size: .8rem }
.two { display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1fr) } @media (min-width: 75rem) { .two { grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); align-items: start } }
.column { display: grid; gap: 1.25rem } [id^="part-"]:empty { display: none }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; overflow: hidden }
.card > header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; padding: .75rem 1rem; border-bottom: 1px solid var(--line) }
.card > header h2 { font-size: 1rem; margin: 0 } .card > header p { margin: 0; color: var(--soft); font-size: .82rem }
.card > header nav { margin-left: auto; display: flex; flex-wrap: wrap; gap: .35rem .75rem; font-size: .82rem } nav a[aria-current] { color: var(--ink); font-weight: 600; text-decoration: none }
.scroll { overflow-x: auto } .tall { max-height: 31rem; overflow: auto }
table { width: 100%; border-collapse: collapse } th, td { text-align: left; vertical-align: top; padding: .45rem 1rem; border-top: 1px solid var(--line) }
thead th { position: sticky; top: 0; background: var(--head); color: var(--soft); font-weight: 500; font-size: .78rem; white-space: nowrap; border-top: 0 } tbody tr:first-child > * { border-top: 0 }
tbody th { font-weight: 500 } tbody th.w { min-width: 15rem } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap } .w { overflow-wrap: anywhere; min-width: 11rem }
tr:hover > * { background: var(--head) }
code { font-size: .85em; overflow-wrap: anywhere; background: var(--off-bg); padding: .05rem .3rem; border-radius: .25rem }
.name { overflow-wrap: anywhere } .soft { color: var(--soft) } .small { font-size: .8rem } .nowrap { white-space: nowrap } .empty { margin: 0; padding: 1rem; color: var(--soft) }
.badge { display: inline-block; padding: .05rem .5rem; border-radius: 1rem; font-size: .78rem; white-space: nowrap; background: var(--off-bg); color: var(--off) }
.badge.good { background: var(--good-bg); color: var(--good) } .badge.warn { background: var(--warn-bg); color: var(--warn) } .badge.bad { background: var(--bad-bg); color: var(--bad) } .badge.busy { background: var(--busy-bg); color: var(--busy) }
progress { appearance: none; display: block; width: 100%; min-width: 8rem; height: .5rem; border: 0; border-radius: .25rem; overflow: hidden; background: var(--off-bg) }
progress::-webkit-progress-bar { background: var(--off-bg) } progress::-webkit-progress-value { background: var(--busy); border-radius: .25rem } progress::-moz-progress-bar { background: var(--busy) }
progress:not([value])::-webkit-progress-bar { background: repeating-linear-gradient(90deg, var(--busy-bg) 0 1rem, var(--off-bg) 1rem 2rem) }
button { font: inherit; padding: .35rem .9rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--paper); color: var(--ink); cursor: pointer } button.main { background: var(--mark); border-color: var(--mark); color: var(--paper) }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); margin: 0 } dl > div { padding: .6rem 1rem } dt { color: var(--soft); font-size: .8rem } dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
.sign { max-width: 30rem; margin: 12vh auto 0; padding: 1.75rem 2rem; background: var(--paper); border: 1px solid var(--line); border-radius: .6rem } .sign h1 { font-size: 1.25rem; margin: 0 0 .5rem } .sign p { margin: .5rem 0 }
.sign label { display: block; margin: 1rem 0 .3rem } .sign input { width: 100%; font: inherit; padding: .5rem .7rem; border: 1px solid var(--soft); border-radius: .4rem; background: var(--ground); color: var(--ink) } .sign button { margin-top: 1rem } .wrong { color: var(--bad) } .wrong::before { content: "!\\00a0"; font-weight: 700 }
.alert { margin: 0; padding: .6rem 1rem; border-radius: .6rem; background: var(--warn-bg); color: var(--warn) }
.alert + .alert { margin-top: .5rem } .alert.bad { background: var(--bad-bg); color: var(--bad) }
`;
