# What is wrong with JSON by a schema: a line for each fault. A key of which the
# schema does not know is one. For schemas that need no more than this.
#
#   jq -r --slurpfile schema FILE --arg definition NAME -f schema.jq

$schema[0]["$defs"] as $defs
| def referred: if has("$ref") then $defs[.["$ref"] | ltrimstr("#/$defs/")] else {} end;

def keys_of: (.properties // {} | keys)
  + if has("$ref") then referred | keys_of else [] end;

def is_a($types): [type, if type == "number" and . == floor then "integer" else empty end]
  | any(.[]; IN($types | if type == "array" then .[] else . end));

# $known: keys that are known besides; null: the caller looks at the keys.
def faults($s; $at; $known):
  # The branch that fits best: a constant that differs says that it is not meant.
  def best($branches): . as $value
    | [$branches[] as $one | [$value | faults($one; $at; $known + ($s | keys_of))]]
    | min_by(length + 1000 * (map(select(test(", not \""))) | length)) | .[];

  (select($s | has("$ref")) | faults($s | referred; $at; null)),
  (select($s | has("anyOf")) | best($s.anyOf)),
  (select($known != null and type == "object" and ($s | has("anyOf") | not))
   | keys - $known - ($s | keys_of) | .[] | "\($at): unknown key \(.)"),
  (select($s | has("type")) | select(is_a($s.type) | not) | "\($at): is a \(type)"),
  (select($s | has("const")) | select(. != $s.const) | "\($at): \(tojson), not \($s.const | tojson)"),
  (select($s | has("enum")) | select(IN($s.enum[]) | not) | "\($at): \(tojson) is none of them"),
  (select($s | has("pattern")) | strings | select(test($s.pattern) | not) | "\($at): \(tojson) does not match"),
  (select($s | has("minimum")) | numbers | select(. < $s.minimum) | "\($at): \(.) is too low"),
  (objects | ($s.required // []) - keys | .[] | "\($at): no \(.)"),
  (objects | to_entries[] | .key as $key | select($s.properties // {} | has($key))
   | .value | faults($s.properties[$key]; "\($at).\($key)"; [])),
  (select($s | has("items")) | arrays | to_entries[] | .key as $i
   | .value | faults($s.items; "\($at)[\($i)]"; []));

faults($defs[$definition]; $definition; [])
