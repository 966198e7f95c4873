/**
 * What every graph source produces: vertices 0 … vertexCount-1 and directed edges as two parallel columns.
 * Parallel edges and self-loops are kept: a source that names a pair twice gives it twice the weight.
 */
export interface EdgeSet {
  /** What the graph is, for people: `WordNet 3.1`, `web-Google.txt`, `Kronecker scale 20, seed 1`. */
  readonly name: string
  readonly vertexCount: number
  /** `from[k] -> to[k]` is edge k. */
  readonly from: Uint32Array
  readonly to: Uint32Array
  /** A vertex in words. */
  readonly describe: (vertex: number) => VertexDescription
}

/** A vertex for people: a name, and where the source has one, a gloss. */
export interface VertexDescription {
  readonly name: string
  readonly gloss: string
}
