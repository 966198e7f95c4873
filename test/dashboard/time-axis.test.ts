import assert from 'node:assert/strict'
import { test } from 'node:test'

/** As web/time-axis.ts has it, which is built for a browser. */
interface TimeAxis {
  readonly spanMs: number
  readonly first: number
  readonly labels: readonly { readonly seconds: number; readonly back: number }[]
  back(index: number): number
}
const { TimeAxis } = (await import(new URL('../../web/time-axis.js', import.meta.url).href)) as {
  readonly TimeAxis: new (times: readonly number[]) => TimeAxis
}

/** Looks so many milliseconds apart. */
const looks = (count: number, apartMs: number): readonly number[] =>
  Array.from({ length: count }, (_, look) => 1_700_000_000_000 + look * apartMs)

/** Where the axis has a look, and where it has the label of as long ago, as shares of its length. */
function atSeconds(times: readonly number[], seconds: number): readonly [look: number, label: number | undefined] {
  const axis = new TimeAxis(times)
  const index = times.findIndex((time) => time === times.at(-1)! - 1000 * seconds)
  return [axis.back(index), axis.labels.find((label) => label.seconds === seconds)?.back]
}

test('a look is under the label of its time, however far apart looks are', () => {
  for (const apartMs of [200, 500, 1000, 2000]) {
    const [look, label] = atSeconds(looks(121, apartMs), apartMs < 1000 ? 10 : 30)
    assert.ok(look > 0)
    assert.equal(look, label, `${apartMs} ms apart`)
  }
  const [look, label] = atSeconds([...looks(10, 200), ...looks(8, 200).map((time) => time + 20_000)], 20)
  assert.equal(look, label, 'also where there was a pause')
})

test('the axis is as long as what is shown: half a minute at least, two minutes at most', () => {
  assert.equal(new TimeAxis([]).spanMs, 30_000)
  assert.equal(new TimeAxis(looks(3, 200)).spanMs, 30_000)
  assert.equal(new TimeAxis(looks(300, 200)).spanMs, 299 * 200)
  const long = new TimeAxis(looks(600, 1000))
  assert.deepEqual([long.spanMs, long.first, long.back(long.first)], [120_000, 600 - 121, 1])
  assert.deepEqual(
    long.labels.map(({ seconds }) => seconds),
    [0, 30, 60, 90, 120],
  )
})

test('what was before the clock was set back is not shown', () => {
  const times = [...looks(10, 200), ...looks(5, 200).map((time) => time - 3_600_000)]
  const axis = new TimeAxis(times)
  assert.deepEqual([axis.first, axis.spanMs], [10, 30_000])
})
