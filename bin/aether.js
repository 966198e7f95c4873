#!/usr/bin/env node
// In a checkout the command runs what was compiled last, with the tools beside it; in an installation, the bundle.
import { existsSync } from 'node:fs'

const compiled = new URL('../dist/src/cli/main.js', import.meta.url)
await import(existsSync(compiled) ? compiled.href : '../dist/package/command.js')
