import type { GroupStart } from './group-machine.ts'
import type { DoorPlace } from './growth/agent-door.ts'
import type { ShownPlaces } from './shown-places.ts'

/** What the machine's module is started with, besides what the room above adds. */
export interface GroupAgentData extends ShownPlaces {
  readonly group: GroupStart
  /** Where the agent of a group that grows is asked by processes that want to join. */
  readonly door?: DoorPlace
}
