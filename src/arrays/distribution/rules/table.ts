import type { Entry, NodeEntry } from '../../functions/entry.ts'
import { takenAlongAxis } from './along-axis.ts'
import { contractions } from './contracting.ts'
import { countings } from './counting.ts'
import { creations } from './creation.ts'
import { cumulations } from './cumulating.ts'
import { movements } from './moving.ts'
import { products } from './products.ts'
import { reductions } from './reductions.ts'
import type { Rule } from './rule.ts'
import { searches } from './searching.ts'
import { sets } from './sets.ts'
import { sortings } from './sorting.ts'
import { transforms } from './transforming.ts'

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...creations,
  ...movements,
  ...cumulations,
  ...sortings,
  ...searches,
  ...products,
  ...contractions,
  ...countings,
  ...sets,
  ...transforms,
  ...reductions,
  ['take_along_axis', takenAlongAxis],
])

export function ruleFor({ name }: Entry | NodeEntry): Rule | undefined {
  return rules.get(name)
}
