import { eventText } from './event-text.ts'
import { legendSamples, spaceTimeStyle } from './space-time-style.ts'
import { classOf, escaped, type SpaceTimePlay, spaceTimeDiagram } from './space-time-svg.ts'

/** What a page says beside the diagram. */
export interface SpaceTimeWords {
  /** Where the algorithm comes from. */
  readonly source: string
  /** The command that made it. */
  readonly command: string
  /** What came of it, a line each. */
  readonly outcome: readonly string[]
}

const style = `
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;width:max-content;min-width:100%}
.words{position:sticky;left:0;box-sizing:border-box;max-width:min(100vw,1000px);padding:22px 28px 8px}
h1{font-size:22px;margin:0}
p,ul{margin:6px 0}
ul{padding-left:20px}
.soft{color:var(--soft)}
code{font:13px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
fieldset{border:0;margin:12px 0 4px;padding:0;display:flex;flex-wrap:wrap;gap:4px 20px}
fieldset label{display:flex;align-items:center;gap:6px;cursor:pointer;white-space:nowrap}
fieldset svg{width:32px;height:16px;overflow:visible}
header{position:sticky;top:0;background:var(--ground);border-bottom:1px solid var(--rule);z-index:1}
svg.space-time{display:block}
details{position:sticky;left:0;padding:14px 28px 40px;max-width:min(100vw,1100px);box-sizing:border-box}
summary{cursor:pointer}
ol{font:13px/1.6 ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}`

/** A play as a page that needs nothing else: the diagram, what came of it, and everything that happened as text. */
export function spaceTimePage(play: SpaceTimePlay, { source, command, outcome }: SpaceTimeWords): string {
  const { width, head, headHeight, body, bodyHeight } = spaceTimeDiagram(play)
  const legend = legendSamples(play.events)
  const hidden = legend.map(
    ({ kind }) => `body:has(#show-${kind}:not(:checked)) :is(.event,.label).${kind}{display:none}`,
  )
  const boxes = legend.map(
    ({ kind, sample, text }) =>
      `<label><input type="checkbox" id="show-${kind}" checked><svg class="space-time" viewBox="0 -8 32 16" aria-hidden="true">${sample}</svg>${text}</label>`,
  )
  const diagram = (height: number, content: string, label: string): string =>
    `<svg class="space-time" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">\n${content}\n</svg>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(play.title)}</title>
<style>
${spaceTimeStyle}${style}
${hidden.join('\n')}
</style>
</head>
<body>
<div class="words">
<h1>${escaped(play.title)}</h1>
<p class="soft">${escaped(source)}<br><code>${escaped(command)}</code></p>
<ul>
${outcome.map((line) => `<li>${escaped(line)}</li>`).join('\n')}
</ul>
<fieldset aria-label="What is shown">
${boxes.join('\n')}
</fieldset>
<p class="soft">Time runs downwards, in ${play.unit}. Point at anything to read it in full.</p>
</div>
<header>
${diagram(headHeight, head, 'Names of the lanes')}
</header>
<main>
${diagram(Math.round(bodyHeight), body, 'What happened, in time')}
</main>
<details>
<summary>All ${play.events.length} events as text</summary>
<ol>
${play.events.map((event) => `<li class="${classOf(event)}">${escaped(eventText(event, play.unit))}</li>`).join('\n')}
</ol>
</details>
</body>
</html>
`
}
