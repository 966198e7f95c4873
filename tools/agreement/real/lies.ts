import { Random } from 'aether-dsm/internal/runtime'
import { Alternator, Silent, Tamperer, TwoFaced } from '../byzantine/liars.ts'
import type { Algorithm, Setting } from '../model/algorithm.ts'
import type { Process } from '../model/process.ts'

type MakeLiar = (algorithm: Algorithm, me: number, setting: Setting) => Process

const lies: Readonly<Record<string, MakeLiar>> = {
  silent: () => new Silent(),
  tampers: (algorithm, me, setting) => new Tamperer(algorithm.create(me, setting), new Random(me + 1)),
  'two-faced': (algorithm, me, setting) => new TwoFaced(() => algorithm.create(me, setting), ['a', 'b']),
  alternates: (algorithm, me, setting) =>
    new Alternator(() => algorithm.create(me, setting), ['a', 'b'], new Random(me + 1)),
  traitor: (algorithm, me, setting) => Object.values(algorithm.traitors!)[0]!(me, setting),
}

/** What a process can do instead of keeping to that algorithm. */
export const liesOf = (algorithm: Algorithm): string[] =>
  algorithm.failures === 'crash' ? [] : Object.keys(lies).filter((lie) => lie !== 'traitor' || algorithm.traitors)

/** @param lie One of {@link liesOf}. */
export const createLiar = (lie: string, ...scene: Parameters<MakeLiar>): Process => lies[lie]!(...scene)
