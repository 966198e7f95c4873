import type { WorldEvent } from '../play/world.ts'

const light =
  '--ground:#fff;--card:#f6f7f9;--rule:#e8ebf0;--ink:#1b2130;--soft:#667085;--message:#3b6cf6;--write:#d2620a;--read:#12875a;--claim:#8a4fd3;--permit:#c2307f;--good:#0d8a5f;--bad:#d1333f;--memory:#cfd6e2'
const dark =
  '--ground:#0d1118;--card:#151b25;--rule:#1d2532;--ink:#e6ebf4;--soft:#98a4b8;--message:#7ea2ff;--write:#f5a35c;--read:#4ccf96;--claim:#b98cf2;--permit:#f06fb4;--good:#3ecf8e;--bad:#ff6b72;--memory:#364156'

/** Colours of the picture, for a bright and a dark ground. */
const spaceTimeColors: string = `:root{${light};color-scheme:light dark}@media (prefers-color-scheme:dark){:root{${dark}}}`

/** Everything in the picture has the colour of its kind; `currentColor` is that of the event. */
export const spaceTimeStyle: string = `${spaceTimeColors}
.space-time{font:11px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
.space-time text:not(.label){fill:var(--ink)}
.space-time .ground{fill:var(--ground)}
.space-time text:is(.note,.at){fill:var(--soft)}
.space-time .at,.space-time .end{text-anchor:end}
.space-time .middle,.space-time .name>text{text-anchor:middle}
.space-time .process-name,.space-time .memory-name{font-size:13px;font-weight:600}
.space-time .process-box{fill:var(--card);stroke:var(--ink);stroke-width:1.4}
.space-time .memory-box{fill:var(--memory);stroke:var(--soft)}
.space-time .time{stroke:var(--rule)}
.space-time .ordered{stroke:var(--soft);stroke-width:3}
.space-time .lane.process{stroke:var(--ink);stroke-width:1.6}
.space-time .lane.memory{stroke:var(--memory);stroke-width:7}
.space-time .lane.down{stroke:var(--soft);stroke-dasharray:1 6}
.space-time .line,.space-time .ring{fill:none;stroke:currentColor;stroke-width:1.5}
.space-time .ring{fill:var(--ground);stroke-width:2}
.space-time .near{fill:none;stroke:transparent;stroke-width:11}
.space-time .head{fill:currentColor}
.space-time .cross{fill:none;stroke:currentColor;stroke-width:2.6}
.space-time .label{fill:currentColor;stroke:var(--ground);stroke-width:3.5;paint-order:stroke;stroke-linejoin:round}
.space-time .event:hover .line{stroke-width:3.2}
.space-time .message,.space-time .loss{color:var(--message)}
.space-time .write{color:var(--write)}
.space-time .read{color:var(--read)}
.space-time .claim{color:var(--claim)}
.space-time .permit{color:var(--permit)}
.space-time .answer{color:var(--soft)}
.space-time .answer .line,.space-time .loss .line{stroke-dasharray:4 3}
.space-time .decide{color:var(--good)}
.space-time .label.decide{font-weight:700}
.space-time .lead{color:var(--permit)}
.space-time .refused,.space-time .crash,.space-time .loss .cross{color:var(--bad)}`

const arrow = (dashes = ''): string =>
  `<path class="line"${dashes} d="M0 -3L21 2"/><path class="head" d="M28 4l-10 1.5l2 -6Z"/>`

/** Kinds of events in the order of the legend: the class that they have, a sample, and what it is. */
const kinds: readonly { readonly kind: string; readonly shape: string; readonly text: string }[] = [
  { kind: 'message', shape: arrow(), text: 'message' },
  {
    kind: 'loss',
    shape: '<path class="line" d="M0 -3L16 1"/><path class="cross" d="M11 -4l10 10m0 -10l-10 10"/>',
    text: 'lost',
  },
  { kind: 'write', shape: arrow(), text: 'write' },
  { kind: 'read', shape: arrow(), text: 'read' },
  { kind: 'claim', shape: arrow(), text: 'claim' },
  { kind: 'permit', shape: arrow(), text: 'permission' },
  { kind: 'answer', shape: arrow(), text: 'answer' },
  {
    kind: 'refused',
    shape: '<path class="line" d="M0 -3L16 1"/><path class="cross" d="M11 -4l10 10m0 -10l-10 10"/>',
    text: 'refused',
  },
  { kind: 'decide', shape: '<path class="head" d="M14 -7l7 7l-7 7l-7 -7Z"/>', text: 'decision' },
  { kind: 'lead', shape: '<circle class="ring" cx="14" cy="0" r="5"/>', text: 'leader' },
  { kind: 'crash', shape: '<path class="cross" d="M9 -5l10 10m0 -10l-10 10"/>', text: 'crash' },
]

/** A kind of event in the legend. */
export interface LegendSample {
  readonly kind: string
  readonly sample: string
  readonly text: string
}

/** The legend of what happened, without kinds of which there is none. */
export function legendSamples(events: readonly WorldEvent[]): LegendSample[] {
  const present = new Set(events.flatMap((event) => kindsOf(event)))
  return kinds
    .filter(({ kind }) => present.has(kind))
    .map(({ kind, shape, text }) => ({ kind, sample: `<g class="${kind}">${shape}</g>`, text }))
}

function kindsOf(event: WorldEvent): string[] {
  if (event.type === 'operation') return event.ok ? [event.operation.do] : [event.operation.do, 'refused']
  return [event.type]
}
