import { COLOURS } from './series-style.ts'

/** Readable on the page's own ground: a contrast of at least 4.5 to 1 each. */
const light = ['#0b62c4', '#c2410c', '#15803d', '#9333ea', '#8a5a00', '#be185d', '#0e7490', '#475569']
const dark = ['#6cb0ff', '#ff9a5c', '#5fd38a', '#c59bff', '#e6c34f', '#ff8cc0', '#5cd0e6', '#a9b6c8']
const variables = (list: readonly string[]): string => list.map((colour, index) => `--c${index}:${colour}`).join(';')
const classes = Array.from({ length: COLOURS }, (_, index) => `.c${index}{--c:var(--c${index})}`).join('')

export const pageStyle: string = `:root{color-scheme:light dark;--text:#1b1f24;--quiet:#57606a;--page:#fff;--band:#f4f6f8;--grid:#d8dee4;${variables(light)}}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--quiet:#9aa5b1;--page:#0d1117;--band:#161b22;--grid:#30363d;${variables(dark)}}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--page);max-width:1320px;margin:2rem auto;padding:0 1rem}
h1,h2,h3{line-height:1.25;margin:2rem 0 .5rem}h2{border-bottom:1px solid var(--grid)}h3{font-size:1.05rem}
a{color:var(--c0)}nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:0;list-style:none}
p{max-width:75ch;margin:.3rem 0}.quiet{color:var(--quiet)}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,27rem),1fr));gap:1.25rem;margin:.75rem 0;align-items:start}
figure{margin:0;min-width:0}figcaption{font-weight:600}
.legend{display:flex;flex-wrap:wrap;gap:0 .9rem;margin:.2rem 0;padding:0;list-style:none;font-size:13px}
.legend svg{vertical-align:-1px;margin-right:.3rem}
figure>svg{display:block;width:100%;height:auto}
svg text{font-size:12px;fill:var(--text)}svg .axis{fill:var(--quiet)}
.grid{stroke:var(--grid);fill:none}.band{fill:var(--band)}
${classes}
polyline,.line{fill:none;stroke:var(--c);stroke-width:2}.dashed polyline,.dashed .line{stroke-dasharray:6 4}
.mark{fill:var(--c);stroke:var(--page);stroke-width:.75}.whisker{stroke:var(--c);fill:none;opacity:.65}
summary{cursor:pointer;color:var(--quiet)}.group>summary{color:var(--text);margin:.4rem 0}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
td,th{padding:.15rem .6rem;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}
th[scope=row],.left{text-align:left;font-weight:400}thead th{font-weight:600;color:var(--quiet)}
@media print{details:not([open])>*{display:none}.plots{grid-template-columns:1fr 1fr}figure{break-inside:avoid}}`
