import { join as pathOf } from 'node:path'
import { join, open } from 'aether-dsm/internal/dsm'
import { openStructures, type Structures } from 'aether-dsm/internal/structures'
import { DOOMED_RANK, doomedSubject } from './doomed.ts'
import { TortureJournal } from './journal.ts'
import type { StructurePlan } from './plan.ts'
import type { CommonStructures, Subject } from './subject.ts'
import { groupSubjects, machineSubjects } from './subjects/index.ts'

/** What is written of structures, in a space of its own. */
export interface OpenJournal<Shared> extends AsyncDisposable {
  readonly subjects: readonly Subject<Shared>[]
  readonly journal: TortureJournal
}

/** What a process works with. */
export interface OpenPlace<Shared> extends OpenJournal<Shared> {
  readonly shared: Shared
}

/** The structures of a space. */
export async function openMachine(plan: StructurePlan, name: string): Promise<OpenPlace<Structures>> {
  const journal = await openMachineJournal(plan)
  const space = await open(name, whereIs(plan, name))
  // It grows and shrinks, which those that reserve their memory do not.
  const shared = await openStructures(space, { size: plan.sizeBytes, reserve: false, poison: true })
  return {
    shared,
    ...partsOf(journal),
    async [Symbol.asyncDispose]() {
      await shared.close()
      await space.close()
      await journal[Symbol.asyncDispose]()
    },
  }
}

/** The journal alone. */
export function openMachineJournal(plan: StructurePlan): Promise<OpenJournal<Structures>> {
  return openJournal(plan, chosen(machineSubjects, plan.structures))
}

/** The structures of a group, kept at rank 0; and where one of its homes is killed, the same once more at that. */
export async function openGroup(plan: StructurePlan): Promise<OpenPlace<CommonStructures>> {
  const group = await join({ leaseMs: plan.leaseMs })
  const size = plan.sizeBytes
  const shared = await openStructures(group, { size, homes: [0] })
  const kept = chosen(groupSubjects, plan.structures)
  const doomed =
    plan.place === 'homes' ? await openStructures(group, { name: 'doomed', size, homes: [DOOMED_RANK] }) : undefined
  const subjects = [...kept, ...(doomed === undefined ? [] : kept.map((subject) => doomedSubject(subject, doomed)))]
  const journal = await openJournal(plan, subjects)
  return {
    shared,
    ...partsOf(journal),
    async [Symbol.asyncDispose]() {
      await doomed?.close()
      await shared.close()
      await group.close()
      await journal[Symbol.asyncDispose]()
    },
  }
}

async function openJournal<Shared>(
  plan: StructurePlan,
  subjects: readonly Subject<Shared>[],
): Promise<OpenJournal<Shared>> {
  const name = 'torture-journal'
  const space = await open(name, whereIs(plan, name))
  const size = Math.ceil(TortureJournal.bytesFor(subjects) / 4096) * 4096
  const region = await space.openRegion('journal', { coherence: 'hardware', size, reserve: false })
  const journal = new TortureJournal(region.int32, subjects)
  return { subjects, journal, [Symbol.asyncDispose]: () => space.close() }
}

function partsOf<Shared>({ subjects, journal }: OpenJournal<Shared>): Omit<OpenJournal<Shared>, keyof AsyncDisposable> {
  return { subjects, journal }
}

function whereIs({ directory }: StructurePlan, name: string): { readonly directory?: string } {
  return directory === undefined ? {} : { directory: pathOf(directory, name) }
}

function chosen<Shared>(subjects: readonly Subject<Shared>[], names: readonly string[]): readonly Subject<Shared>[] {
  return subjects.filter(({ name }) => names.includes(name))
}
