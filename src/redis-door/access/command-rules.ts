import { CommandFault } from '../../index-service/index.ts'
import { type CommandEntry, entryNamed } from '../catalogue/catalogue.ts'
import { commandCategories } from '../catalogue/command-flags.ts'

/** `+@read`, `-get`, `+client|id`, `+select|0`. */
interface CommandRule {
  readonly allows: boolean
  readonly category?: string
  /** Of a command, or of a subcommand. */
  readonly name?: string
  readonly firstArgument?: string
}

/** Which commands a user may run. Of several rules about one command, the last one holds. */
export class CommandRules {
  #allowsAll: boolean
  #rules: readonly CommandRule[]

  constructor(from?: CommandRules) {
    this.#allowsAll = from === undefined ? false : from.#allowsAll
    this.#rules = from === undefined ? [] : from.#rules
  }

  /** Any command, whatever comes to be. */
  get allowAll(): boolean {
    return this.#allowsAll && this.#rules.length === 0
  }

  setAll(allows: boolean): void {
    this.#allowsAll = allows
    this.#rules = []
  }

  /** @throws CommandFault for what is no command or category. */
  add(sign: '+' | '-', text: string): void {
    const rule = ruleOf(sign === '+', text.toLowerCase())
    if (rule.category === 'all') {
      this.setAll(rule.allows)
      return
    }
    this.#rules = this.#rules.filter((known) => !covers(rule, known))
    // As in Redis, a rule about a command is not kept if it changes nothing.
    if (!this.#says(rule)) this.#rules = [...this.#rules, rule]
  }

  #says({ name, firstArgument, allows }: CommandRule): boolean {
    if (name === undefined || firstArgument !== undefined) return false
    const entry = entryNamed(name)!
    return [entry, ...entry.subcommands].every((each) => this.allows(each, undefined) === allows)
  }

  /** `entry`: of the command, or of its subcommand. */
  allows(entry: CommandEntry, firstArgument: string | undefined): boolean {
    let allowed = this.#allowsAll
    for (const rule of this.#rules) if (isAbout(rule, entry, firstArgument)) allowed = rule.allows
    return allowed
  }

  toString(): string {
    return [`${this.#allowsAll ? '+' : '-'}@all`, ...this.#rules.map(shown)].join(' ')
  }
}

function ruleOf(allows: boolean, text: string): CommandRule {
  const unknown = new CommandFault('Unknown command or category name in ACL')
  if (text.startsWith('@')) {
    const category = text.slice(1)
    if (category !== 'all' && !commandCategories.includes(category)) throw unknown
    return { allows, category }
  }
  if (entryNamed(text) !== undefined) return { allows, name: text }
  const [command, argument, more] = text.split('|') as [string, string | undefined, string | undefined]
  const entry = entryNamed(command)
  if (entry === undefined || argument === undefined) throw unknown
  if (more !== undefined) throw new CommandFault('Allowing first-arg of a subcommand is not supported')
  if (entry.subcommands.length > 0 || !allows || argument === '') throw unknown
  return { allows, name: command, firstArgument: argument }
}

/** A rule that came later leaves nothing of the other one. */
function covers(later: CommandRule, { category, name, firstArgument }: CommandRule): boolean {
  if (later.category !== undefined || name === undefined)
    return later.category !== undefined && later.category === category
  if (later.firstArgument !== undefined) return later.name === name && later.firstArgument === firstArgument
  return name === later.name || name.startsWith(`${later.name}|`)
}

function isAbout(rule: CommandRule, entry: CommandEntry, firstArgument: string | undefined): boolean {
  if (rule.category !== undefined) return entry.categories.has(rule.category)
  if (rule.firstArgument !== undefined) return rule.name === entry.name && rule.firstArgument === firstArgument
  return rule.name === entry.name || entry.name.startsWith(`${rule.name}|`)
}

function shown({ allows, category, name, firstArgument }: CommandRule): string {
  const sign = allows ? '+' : '-'
  if (category !== undefined) return `${sign}@${category}`
  return firstArgument === undefined ? `${sign}${name}` : `${sign}${name}|${firstArgument}`
}
