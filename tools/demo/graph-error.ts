import { AetherError } from 'aether-dsm/internal/native'

/** Where a graph file stopped making sense. */
export interface GraphErrorPlace {
  readonly file: string
  /** Counted from 1. */
  readonly line?: number
  /** The line itself, shortened. */
  readonly text?: string
}

/** A graph could not be read: no such file, nothing in it, or a line that is not an edge. */
export class GraphError extends AetherError {
  override readonly name = 'GraphError'
  readonly file: string
  readonly line: number | undefined
  readonly text: string | undefined

  constructor(reason: string, place: GraphErrorPlace, options?: ErrorOptions) {
    const where = place.line === undefined ? place.file : `${place.file}, line ${place.line}`
    const quoted = place.text === undefined ? '' : `: ${JSON.stringify(place.text)}`
    super('ERR_AETHER_GRAPH', `${where}: ${reason}${quoted}`, options)
    this.file = place.file
    this.line = place.line
    this.text = place.text
  }
}
