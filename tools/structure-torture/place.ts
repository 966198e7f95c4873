import { join, open } from 'aether-dsm/internal/dsm'
import { openStructures, type Structures } from 'aether-dsm/internal/structures'
import { DOOMED_RANK, doomedSubject } from './doomed.ts'
import { TortureJournal } from './journal.ts'
import type { StructurePlan } from './plan.ts'
import type { CommonStructures, Subject } from './subject.ts'
import { groupSubjects, machineSubjects } from './subjects/index.ts'

/** What a process works with. */
export interface OpenPlace<Shared> extends AsyncDisposable {
  readonly shared: Shared
  readonly subjects: readonly Subject<Shared>[]
  readonly journal: TortureJournal
}

/** The structures of a space. */
export async function openMachine(plan: StructurePlan, name: string): Promise<OpenPlace<Structures>> {
  const subjects = chosen(machineSubjects, plan.structures)
  const journal = await openJournal(subjects)
  const space = await open(name)
  // It grows and shrinks, which those that reserve their memory do not.
  const shared = await openStructures(space, { size: plan.sizeBytes, reserve: false, poison: true })
  return {
    shared,
    subjects,
    journal: journal.journal,
    async [Symbol.asyncDispose]() {
      await shared.close()
      await space.close()
      await journal.close()
    },
  }
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
  const journal = await openJournal(subjects)
  return {
    shared,
    subjects,
    journal: journal.journal,
    async [Symbol.asyncDispose]() {
      await doomed?.close()
      await shared.close()
      await group.close()
      await journal.close()
    },
  }
}

async function openJournal(
  subjects: readonly Subject<never>[],
): Promise<{ readonly journal: TortureJournal; close(): Promise<void> }> {
  const space = await open('torture-journal')
  const size = Math.ceil(TortureJournal.bytesFor(subjects) / 4096) * 4096
  const region = await space.openRegion('journal', { coherence: 'hardware', size, reserve: false })
  return { journal: new TortureJournal(region.int32, subjects), close: () => space.close() }
}

function chosen<Shared>(subjects: readonly Subject<Shared>[], names: readonly string[]): readonly Subject<Shared>[] {
  return subjects.filter(({ name }) => names.includes(name))
}
