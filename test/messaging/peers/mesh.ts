import { openPeers, type PeerGroup, type PeerLimits, type Peers } from '../../../src/messaging/index.ts'
import { type MemoryLink, type MemoryLinksOptions, memoryLinks } from '../../support/memory-links.ts'

/** Everybody connected with everybody in one process, over plain memory. */
export class Mesh {
  readonly peers: readonly Peers[]
  readonly #links = new Map<string, MemoryLink>()

  private constructor(peers: readonly Peers[]) {
    this.peers = peers
  }

  static async open(size: number, links: MemoryLinksOptions = {}, limits: PeerLimits = {}): Promise<Mesh> {
    const mesh = new Mesh(Array.from({ length: size }, (_, number) => openPeers({ number, ...limits })))
    await Promise.all(
      mesh.peers.flatMap((one, low) =>
        mesh.peers.slice(low + 1).flatMap((other, index) => {
          const pair = memoryLinks({ ringBytes: 4096, seed: low * 1000 + index, ...links })
          mesh.#links.set(`${low}-${low + 1 + index}`, pair[0])
          return [one.attach(pair[0]), other.attach(pair[1])]
        }),
      ),
    )
    return mesh
  }

  /** A group at each of the members, by rank. */
  groups(members: readonly number[] = this.peers.map(({ number }) => number)): PeerGroup[] {
    return members.map((member) => this.peers[member]!.group(members))
  }

  /** All wires of a peer are cut at once, as when its process is killed. */
  kill(number: number): void {
    for (const [name, link] of this.#links) if (name.split('-').includes(String(number))) link.cut()
  }

  cut(low: number, high: number): void {
    this.#links.get(`${low}-${high}`)!.cut()
  }

  async close(): Promise<void> {
    await Promise.all(this.peers.map((peers) => peers.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
