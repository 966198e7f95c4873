import { TeamSharing } from '../../../src/arrays/distribution/calls.ts'
import { namespaceAmong } from '../../../src/arrays/distribution/group-arrays.ts'
import { Team } from '../../../src/arrays/exchange/team.ts'
import { namespaceOf, type SharedArrays } from '../../../src/arrays/open-arrays.ts'
import { Mesh } from '../../messaging/peers/mesh.ts'
import { PlainMemory } from './plain-memory.ts'

/** The ranks of a mesh in one process, each with a namespace of its own. They may wait for each other, not block. */
export class MeshArrays implements AsyncDisposable {
  readonly namespaces: readonly SharedArrays[]
  readonly #mesh: Mesh

  private constructor(mesh: Mesh, namespaces: readonly SharedArrays[]) {
    this.#mesh = mesh
    this.namespaces = namespaces
  }

  /** `isMapped`: do ranks map the memory of each other? */
  static async open(size: number, isMapped: boolean): Promise<MeshArrays> {
    const mesh = await Mesh.open(size)
    const groups = mesh.groups()
    const memory = new PlainMemory()
    const namespaces = groups.map((group, rank) => {
      const team = new Team(group, [...groups.keys()], rank, memory, isMapped)
      const shrink = async (): Promise<never> => {
        throw new Error('a mesh loses no rank')
      }
      const { call, functions } = namespaceAmong(new TeamSharing(team), { shrink })
      return Object.defineProperties(namespaceOf(call), Object.getOwnPropertyDescriptors(functions)) as SharedArrays
    })
    return new MeshArrays(mesh, namespaces)
  }

  /** Runs a program at each rank; the results by rank. */
  all<T>(program: (xp: SharedArrays, rank: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.namespaces.map(program))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mesh.close()
  }
}
