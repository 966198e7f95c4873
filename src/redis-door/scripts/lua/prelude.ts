/**
 * What scripts find, as Lua 5.1 has it. Its only argument is a table with functions of the door. It answers with three
 * things: the table of all globals, the one through which scripts see it, and what takes errors.
 *
 * Scripts can set no global and no part of a library: they would be seen by those of others.
 */
export const PRELUDE = `
local door = ...
local G = _G
local type, select, error, setmetatable, getmetatable = type, select, error, setmetatable, getmetatable
local rawset, getinfo, gsub = rawset, debug.getinfo, string.gsub
local math_type, floor, ceil, unpack = math.type, math.floor, math.ceil, table.unpack

-- C functions of 5.1 cut what is behind the point.
local function whole(x)
  if math_type(x) == 'float' and x ~= floor(x) and x == x then return x < 0 and ceil(x) or floor(x) end
  return x
end

local sub, rep, byte, char, format, gmatch = string.sub, string.rep, string.byte, string.char, string.format, string.gmatch
local function isWhole(x) return math_type(x) ~= 'float' or x == floor(x) end
function string.sub(...)
  local s, i, j = ...
  if isWhole(i) and isWhole(j) then return sub(...) end
  return sub(s, whole(i), whole(j or -1))
end
function string.rep(...)
  local s, n = ...
  if isWhole(n) then return rep(...) end
  return rep(s, whole(n))
end
function string.byte(...)
  local s, i, j = ...
  if isWhole(i) and isWhole(j) then return byte(...) end
  return byte(s, whole(i), whole(j or i))
end
local wholes = { d = true, i = true, u = true, c = true, o = true, x = true, X = true }
function string.format(text, ...)
  local count, cut = select('#', ...), false
  for at = 1, count do
    local value = select(at, ...)
    if math_type(value) == 'float' and value ~= floor(value) then cut = true end
  end
  if type(text) == 'string' then text = gsub(text, '(%%[-+ #0]*%d*%.?%d*)u', '%1d') end
  if not cut then return format(text, ...) end
  local values, at = { ... }, 0
  for kind in gmatch(text, '%%[-+ #0]*%d*%.?%d*(.)') do
    if kind ~= '%' then
      at = at + 1
      if wholes[kind] then values[at] = whole(values[at]) end
    end
  end
  return format(text, unpack(values, 1, count))
end
string.gfind, string.pack, string.packsize, string.unpack = gmatch, nil, nil, nil

function math.floor(x) return floor(x) + 0.0 end
function math.ceil(x) return ceil(x) + 0.0 end
local random, log, exp = math.random, math.log, math.exp
function math.random(...)
  if select('#', ...) == 0 then return random() end
  local m, n = ...
  if n == nil and whole(m) == 0 then error("bad argument #1 to 'random' (interval is empty)", 2) end
  if n == nil then return random(whole(m)) + 0.0 end
  return random(whole(m), whole(n)) + 0.0
end
function math.log(x) return log(x) end
function math.log10(x) return log(x, 10.0) end
function math.pow(x, y) return x ^ y end
function math.ldexp(m, e) return m * 2.0 ^ whole(e) end
function math.frexp(x)
  if x == 0 or x ~= x or x == math.huge or x == -math.huge then return x, 0.0 end
  local e = floor(log(math.abs(x), 2.0)) + 1.0
  local m = x / 2.0 ^ e
  if math.abs(m) >= 1 then return m / 2, e + 1 end
  if math.abs(m) < 0.5 then return m * 2, e - 1 end
  return m, e
end
function math.sinh(x) return (exp(x) - exp(-x)) / 2 end
function math.cosh(x) return (exp(x) + exp(-x)) / 2 end
function math.tanh(x)
  if x > 20 then return 1.0 elseif x < -20 then return -1.0 end
  return (exp(2 * x) - 1) / (exp(2 * x) + 1)
end
math.mod, math.atan2 = math.fmod, math.atan
math.type, math.tointeger, math.ult, math.maxinteger, math.mininteger = nil, nil, nil, nil, nil

G.unpack, G.rawlen, G._VERSION = unpack, nil, 'Lua 5.1'
table.unpack, table.pack, table.move, coroutine.close, coroutine.isyieldable = nil, nil, nil, nil, nil
function table.getn(t) return #t end
function table.setn() error("'setn' is obsolete", 2) end
function table.maxn(t)
  local max = 0
  for key in next, t do if type(key) == 'number' and key > max then max = key end end
  return max
end
function table.foreach(t, run)
  for key, value in next, t do
    local result = run(key, value)
    if result ~= nil then return result end
  end
end
function table.foreachi(t, run)
  for at = 1, #t do
    local result = run(at, t[at])
    if result ~= nil then return result end
  end
end

local tonumber_54 = tonumber
function tonumber(...)
  local value = tonumber_54(...)
  if math_type(value) == 'integer' then return value + 0.0 end
  return value
end
local pcall_54 = pcall
local function withText(isDone, problem, ...)
  if not isDone and type(problem) == 'table' and type(problem.err) == 'string' then return false, problem.err end
  return isDone, problem, ...
end
function pcall(...) return withText(pcall_54(...)) end
function gcinfo() return collectgarbage('count') end
loadstring = door.loadstring
local loadstring_now = loadstring
function load(pieces, name)
  if type(pieces) == 'string' then return loadstring_now(pieces, name) end
  local text = ''
  for piece in pieces do
    if piece == '' then break end
    text = text .. piece
  end
  return loadstring_now(text, name or '=(load)')
end
redis, cjson, cmsgpack, bit, struct = door.redis, door.cjson, door.cmsgpack, door.bit, door.struct
local traced = getinfo
debug, io, os, package, require, utf8, dofile, loadfile, print, warn = nil

-- What is protected is seen through an empty table.
local missing, readonly = door.missing, door.readonly
local shields = setmetatable({}, { __mode = 'k' })
local function shielded(what)
  local shield = setmetatable({}, {
    __index = what,
    __newindex = readonly,
    __metatable = false,
    __pairs = function() return next, what, nil end,
  })
  shields[shield] = true
  return shield
end
for _, name in ipairs({ 'string', 'table', 'math', 'coroutine', 'redis', 'cjson', 'cmsgpack', 'bit', 'struct' }) do
  if G[name] ~= nil then G[name] = shielded(G[name]) end
end
-- What scripts see as the metatable of what is protected.
local metatables = setmetatable({}, { __mode = 'k' })
getmetatable('').__metatable = shielded({ __index = G.string })
function G.getmetatable(t)
  if shields[t] then return metatables[t] end
  return getmetatable(t)
end
local READONLY = 'Attempt to modify a readonly table'
local rawset_54 = rawset
function G.rawset(t, key, value)
  if shields[t] then error(READONLY, 0) end
  return rawset_54(t, key, value)
end
function G.setmetatable(t, metatable)
  if shields[t] then error(READONLY, 0) end
  return setmetatable(t, metatable)
end
setmetatable(G, { __index = missing })
local seen = shielded(G)
metatables[seen] = shielded({ __index = missing })
rawset_54(G, '_G', seen)

-- Where in the script it was, and a table of any error.
local function handler(problem)
  local level, place = 2, nil
  repeat
    place = traced(level, 'Sl')
    level = level + 1
  until place == nil or place.source == '@user_script'
  if type(problem) ~= 'table' then
    local text = gsub(tostring(problem), '^=?prelude:%d+: ', place and 'user_script:' .. place.currentline .. ': ' or '')
    problem = { err = 'ERR ' .. text }
  end
  if place then
    rawset_54(problem, 'source', place.source)
    rawset_54(problem, 'line', place.currentline)
  end
  return problem
end

return G, seen, handler
`
