/** What an axis counts, and how its values are written. */
export interface Axis {
  readonly title: string
  /**
   * `log`: values greater than 0 only. `percentile`: shares from 0 to 1, as far apart as the nines they are short of 1.
   */
  readonly scale: 'log' | 'linear' | 'percentile'
  readonly format: (value: number) => string
  /** Values that are on it whatever is drawn. */
  readonly always?: readonly number[]
}

/** `high` is where a whisker from the mark ends: how far its distribution reaches. */
export interface LinePoint {
  readonly x: number
  readonly y: number
  readonly high?: number | null
}

/** A quantity over another one: lines with marks. */
export interface LinePlot {
  readonly kind: 'lines'
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  readonly series: readonly { readonly name: string; readonly points: readonly LinePoint[] }[]
}

export interface Dot {
  readonly category: string
  readonly value: number
  readonly high?: number | null
}

/** A quantity of each of several things that have no order: a band each, with a mark for each series. */
export interface DotPlot {
  readonly kind: 'dots'
  readonly title: string
  readonly x: Axis
  readonly categories: readonly string[]
  readonly series: readonly { readonly name: string; readonly points: readonly Dot[] }[]
}

export type Plot = LinePlot | DotPlot

/** Plots that answer one question; those of the first group are seen at once. */
export interface PlotSection {
  readonly title: string
  readonly explained: string
  readonly groups: readonly { readonly title: string; readonly plots: readonly Plot[] }[]
}

interface AnyPlan<Row> {
  /** Title and explanation of the section. */
  readonly section: string
  readonly explained: string
  /** Which rows it is about; default all. */
  readonly where?: (row: Row) => boolean
  /** Rows with the same are in the same plot, which is called so. */
  readonly figure: (row: Row) => string
  /** Plots with the same are in the same group, which is called so. */
  readonly group?: (row: Row) => string
  readonly series: (row: Row) => string
}

/** Plots of one kind, drawn of rows. */
export type PlotPlan<Row> =
  | (AnyPlan<Row> & {
      readonly kind: 'lines'
      readonly x: Axis
      readonly y: Axis
      readonly points: (row: Row) => readonly LinePoint[]
    })
  | (AnyPlan<Row> & {
      readonly kind: 'dots'
      readonly x: Axis
      readonly category: (row: Row) => string
      /** Null: nothing to be drawn. */
      readonly value: (row: Row) => Omit<Dot, 'category'> | null
    })

/**
 * The plots of the rows by each plan. Lines over a single value are none, and what a plan finds nothing for has no
 * section.
 */
export function plotSections<Row>(plans: readonly PlotPlan<Row>[], rows: readonly Row[]): PlotSection[] {
  return plans.flatMap((plan) => {
    const { section, explained, where = () => true, group = () => '' } = plan
    const groups = [...grouped(rows.filter(where), group)].flatMap(([title, those]) => {
      const plots = [...grouped(those, plan.figure)].flatMap(([name, own]) => plotOf(plan, name, own) ?? [])
      return plots.length === 0 ? [] : [{ title, plots }]
    })
    return groups.length === 0 ? [] : [{ title: section, explained, groups }]
  })
}

function plotOf<Row>(plan: PlotPlan<Row>, title: string, rows: readonly Row[]): Plot | undefined {
  if (plan.kind === 'lines') {
    const { x, y } = plan
    const canBeDrawn = (point: LinePoint): boolean => isOn(x, point.x) && isOn(y, point.y)
    const series = seriesOf(plan, rows, (row) => plan.points(row).filter(canBeDrawn)).map(({ name, points }) => ({
      name,
      points: points.sort((one, other) => one.x - other.x),
    }))
    const values = new Set(series.flatMap(({ points }) => points.map((point) => point.x)))
    return values.size < 2 ? undefined : { kind: 'lines', title, x, y, series }
  }
  const { x, category } = plan
  const series = seriesOf(plan, rows, (row): Dot[] => {
    const value = plan.value(row)
    return value === null || !isOn(x, value.value) ? [] : [{ category: category(row), ...value }]
  })
  const categories = [...new Set(series.flatMap(({ points }) => points.map((dot) => dot.category)))]
  return categories.length === 0 ? undefined : { kind: 'dots', title, x, categories, series }
}

function seriesOf<Row, Point>(
  { series }: AnyPlan<Row>,
  rows: readonly Row[],
  pointsOf: (row: Row) => readonly Point[],
): { readonly name: string; readonly points: Point[] }[] {
  return [...grouped(rows, series)]
    .map(([name, own]) => ({ name, points: own.flatMap(pointsOf) }))
    .filter(({ points }) => points.length > 0)
}

function isOn({ scale }: Axis, value: number): boolean {
  return Number.isFinite(value) && (scale !== 'log' || value > 0)
}

/** By name, in the order in which names first come. */
export function grouped<Row>(rows: readonly Row[], nameOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const name = nameOf(row)
    const own = groups.get(name)
    if (own === undefined) groups.set(name, [row])
    else own.push(row)
  }
  return groups
}
