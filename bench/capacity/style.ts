/** How the page of a plan looks: from 320 pixels of width on, light and dark. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1d1d1f; --soft: #5b5b63; --faint: #dcdce1; --paper: #fff; --raised: #f6f6f8; --accent: #0060a8; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --soft: #a9a9b3; --faint: #3c3c42; --paper: #161618; --raised: #1f1f23; --accent: #6db8f2; --bad: #ff8a80 } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 3rem }
h1 { font-size: 1.7rem; margin: 0 0 .3rem } h2 { font-size: 1.15rem; margin: 2rem 0 .7rem } p { margin: .5rem 0 }
.sides { display: grid; grid-template-columns: minmax(0, 24rem) minmax(0, 1fr); gap: 2.5rem; align-items: start; margin-top: 1.2rem }
form { background: var(--raised); border: 1px solid var(--faint); border-radius: 10px; padding: 1rem 1.1rem } form h2, #plan h2 { margin-top: 0 }
.field { display: grid; grid-template-columns: minmax(0, 1fr) 10.5rem; gap: .2rem .8rem; align-items: center; margin: .45rem 0; font-size: .93rem; line-height: 1.3 }
.field span { display: grid; grid-template-columns: 1fr 2.2rem; gap: .4rem; align-items: center; color: var(--soft) }
.field em { grid-column: 1 / -1; color: var(--bad); font-style: normal; font-size: .85rem } .field em:empty { display: none }
input, button { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: 6px; padding: .3rem .5rem; min-width: 0; min-height: 2.2rem }
input { text-align: right; font-variant-numeric: tabular-nums; color: var(--ink) } input[aria-invalid=true] { border-color: var(--bad); outline: 1px solid var(--bad) }
button { margin-top: .5rem; padding: .3rem .9rem; cursor: pointer } :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px }
table { border-collapse: collapse; width: 100% } tr { border-top: 1px solid var(--faint) } th, td { text-align: left; vertical-align: top; padding: .4rem 0 }
th { font-weight: 400; color: var(--soft); width: 45%; padding-right: 1.5rem } td { font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
.stale table { opacity: .45 } .note { color: var(--soft); font-size: .9rem } code { display: block; margin-top: .3rem; padding: .5rem .7rem; overflow-x: auto; white-space: nowrap; font-size: .88rem; color: var(--ink); background: var(--raised); border-radius: 6px }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 2.5rem 2rem; margin-top: 2rem }
figure { margin: 0; min-width: 0 } figcaption { font-weight: 600; margin-bottom: .5rem } figure > svg { display: block; width: 100%; height: auto }
.grid { stroke: var(--faint) } .limit { stroke: var(--ink); stroke-dasharray: 6 4 } text { fill: var(--ink) } .tick { font-size: 12px } .title { font-size: 13px }
.limit-name { paint-order: stroke; stroke: var(--paper); stroke-width: 4px } .spread { opacity: .35 } .noise { fill: var(--paper); stroke-width: 2 }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; list-style: none; padding: 0; margin: .3rem 0 0; font-size: 14px }
.narrow { display: none !important }
@media (max-width: 60rem) { .sides { grid-template-columns: minmax(0, 1fr) } }
@media (max-width: 34rem) { .wide { display: none !important } .narrow { display: block !important } .field { grid-template-columns: minmax(0, 1fr) } th, td { display: block; width: auto; padding: 0 } tr { display: block; padding: .45rem 0 } td { font-weight: 600 } }
`;
