/** Scripts about what libraries can be told, for `script-cases.ts`. Settings hold for the scripts that follow. */

/** Calls that change settings, or are refused; what they answer; and what is then encoded. */
const settings: readonly string[] = [
  ...[
    'encode_sparse_array()',
    'encode_sparse_array(true)',
    'encode_sparse_array(nil, 3, 4)',
    'encode_sparse_array(true, 0)',
  ],
  ...['encode_sparse_array(true, -1)', 'encode_sparse_array(true, 1.5)', 'encode_sparse_array(1, 2, 3, 4)'],
  ...["encode_sparse_array('x')", "encode_sparse_array('off', 2, 0)", 'encode_sparse_array(false, 2, 10)'],
  ...[
    'encode_max_depth()',
    'encode_max_depth(2)',
    'encode_max_depth(0)',
    "encode_max_depth('x')",
    'encode_max_depth({})',
  ],
  ...['encode_max_depth(1e20)', 'encode_max_depth(1, 2)', "encode_max_depth('12')", 'encode_max_depth(2147483648)'],
  ...['encode_max_depth(true)', 'encode_max_depth(1000)', 'decode_max_depth(2)', 'decode_max_depth(nil)'],
  ...['decode_max_depth(-5)', 'decode_max_depth(1000)', 'encode_number_precision()', 'encode_number_precision(3)'],
  ...['encode_number_precision(0)', 'encode_number_precision(15)', 'encode_number_precision(14)'],
  ...['encode_keep_buffer()', 'encode_keep_buffer(false)', "encode_keep_buffer('on')", 'encode_keep_buffer({})'],
  ...['encode_keep_buffer(1)', 'encode_invalid_numbers()', "encode_invalid_numbers('null')"],
  ...["encode_invalid_numbers('on')", "encode_invalid_numbers('bad')", "encode_invalid_numbers('off')"],
  ...['encode_invalid_numbers(true)', 'encode_invalid_numbers(false)', 'decode_invalid_numbers()'],
  ...["decode_invalid_numbers('null')", 'decode_invalid_numbers(true, 1)', 'decode_invalid_numbers(false)'],
  ...['decode_invalid_numbers(true)'],
]

/** What shows a setting: what it comes to, or why it is refused. */
const shown: readonly string[] = [
  ...[
    'encode({[1] = 1, [30] = 2})',
    'encode({[5] = 1})',
    'encode({{{1}}})',
    'encode({1 / 3, 123456, 1e10, 0.00001234})',
  ],
  ...['encode({[1.23456] = 1})', 'encode({1 / 0, -1 / 0, 0 / 0})', 'encode({[1 / 0] = 1})'],
  ...["decode('[[[1]]]')", "decode('[nan]')"],
]

/** Numbers, and what only looks like some. */
const numbers: readonly string[] = [
  ...[
    '-nan',
    '-inf',
    '-x',
    'nan',
    'NaN',
    'INF',
    'infinity',
    '00',
    '0x',
    '0X1',
    '-0X1F',
    '0b1',
    '+inf',
    '+x',
    '+',
    '-',
    '--',
  ],
  ...['-+1', '1.5.5', '1e+', '1e+5', '1E5', '0e5', '0.1', '00.1', 'n', 'nanx', '1e400', '+1', '-0', '1.', '.5', '1x'],
  ...['0', '-1', '-01', '{1:1}', '{"a" 1}', '{"a" nan}', '{nan:1}', '{"a":-}', '[[1]'],
]

const json: readonly string[] = [
  ...settings.flatMap((call) => [
    `local a, b, c = cjson.${call} return {tostring(a), tostring(b), tostring(c)}`,
    ...shown.map(
      (show) => `local isDone, text = pcall(function() return cjson.${show} end)
      return {tostring(isDone), type(text) == 'table' and cjson.encode(tostring(#text)) or text}`,
    ),
  ]),
  ...[true, false, true].flatMap((isTaken) => [
    `return tostring(cjson.decode_invalid_numbers(${isTaken}))`,
    ...numbers.map((text) => `local value = cjson.decode('[${text}]')[1] return tostring(value)`),
  ]),
]

/** A `cjson` of its own, whose settings are its own, too. */
const others: readonly string[] = [
  'local names = {} for name in pairs(cjson) do names[#names + 1] = name end table.sort(names) return names',
  'local own = cjson.new() local names = {} for name in pairs(own) do names[#names + 1] = name end return #names',
  'return {cjson._NAME, cjson._VERSION, tostring(cjson.new().null == cjson.null)}',
  `local one, two = cjson.new(), cjson.new()
   local told = {one.encode_max_depth(1), two.encode_max_depth(2), one.encode_max_depth(), two.new().encode_max_depth()}
   for _, each in ipairs({one, two, cjson}) do
     local isDone, text = pcall(function() return each.encode({{{1}}}) end)
     told[#told + 1] = text
   end
   return told`,
  `local own = cjson.new() own.decode_invalid_numbers(false) own.encode_sparse_array(true, 1, 0)
   local _, text = pcall(function() return own.decode('[nan]') end)
   return {text, tostring(cjson.decode('[nan]')[1]), own.encode({[3] = 1}), cjson.encode({[3] = 1})}`,
  'local own = cjson.new() own.encode = 1 return own.encode',
  'cjson.encode = 1',
  'return cjson.new(1).encode({1})',
]

const HEX = "local function hex(text) return (text:gsub('.', function(c) return ('%02x'):format(c:byte()) end)) end "

const formats: readonly string[] = [
  ...['b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I', 'i1', 'i2', 'I3', 'i4', 'i8', 'i16', 'I33', 'i0', 'l4', 'f', 'd'],
  ...[
    'x',
    'xx',
    '>h',
    '<h',
    '=h',
    '>i3',
    '>d',
    '>f',
    '>i16',
    '!4 b i',
    '!bd',
    'bd',
    '!8bl',
    '!3',
    '!32',
    '!1bi',
    '!0bi',
    'z',
  ],
  ...['-', ' b b ', '%h', '!8 b i3 b', '!2 b i', '!4bxi', '>!4hi<i', 'i4294967296', 'i99999999999', ''],
]

const struct: readonly string[] = [
  ...formats.flatMap((format) => [
    `${HEX} return hex(struct.pack('${format}', -2, 3, 4))`,
    `return struct.size('${format}')`,
    `local a, b, c, d = struct.unpack('${format}', ('\\255\\1\\2\\3\\4\\5\\6\\128'):rep(5))
     return {tostring(a), tostring(b), tostring(c), tostring(d)}`,
  ]),
  ...[
    ...["'>I2s', 258, 'abc'", "'c0', 'abc'", "'c2', 'abc'", "'c5', 'abc'", "'i', 'x'", "'i', '7'", "'s', {}", "'s', 5"],
    ...[
      "'i', 1e10",
      "'l', 2^53",
      "'L', 2^63",
      "'L', 2^64",
      "'i8', -2^63",
      "'i8', -2^70",
      "'B', 300",
      "'b', -1.7",
      "'i', 1.7",
    ],
    ...["'i', 0 / 0", "'i', 1 / 0", "'d', -0.1", "'!4 c1 i', 'a', 1", "'s', 'a\\0b'", ''],
  ].map((args) => `${HEX} return hex(struct.pack(${args}))`),
  ...["'c'", "'c10'", "'c10s'", "'c0'", '1', '', '{}'].map((args) => `return struct.size(${args})`),
  ...[
    ...["'i'", '', "{}, ''", '1, 2', "'s', 'abc\\0def'", "'s', 'abc'", "'c2', 'abc'", "'c', 'abc'", "'Bc0', '\\3abcd'"],
    ...["'Bc0', '\\5abcd'", "'sc0', '2\\0abc'", "'sc0', 'x\\0abc'", "'c0', 'abc'", "'i', 'abc'", "'i', 'abcdefgh', 3"],
    ...["'i', 'abcdefgh', 5", "'i', 'abcdefgh', 6", "'i', 'abcdefgh', 0", "'i', 'abcdefgh', -1", "'b', 'abc', 4"],
    ...["'b', 'abc', 9", "'', 'abc', 100", "'xb', 'ab'", "'b', 'abc', 'x'", "'b', 'abc', 1.5", "'b', 'abc', '2'"],
  ].map((args) => `return {struct.unpack(${args})}`),
  "local a, b = struct.unpack('f', struct.pack('f', 3.14)) return tostring(a) .. ' ' .. b",
  "local a, b = struct.unpack('L', struct.pack('L', 2^63)) return tostring(a) .. ' ' .. b",
  "local a, b = struct.unpack('>i16', struct.pack('>i16', -5)) return tostring(a) .. ' ' .. b",
  'struct.pack = 1',
]

/** Deeper tables are written as nil. */
const depths: readonly string[] = [14, 15, 16, 17].map(
  (depth) =>
    `${HEX} local t = {} local top = t for i = 1, ${depth} do t[1] = {} t = t[1] end return hex(cmsgpack.pack(top))`,
)

export const libraryCases: readonly string[] = [...json, ...others, ...struct, ...depths]
