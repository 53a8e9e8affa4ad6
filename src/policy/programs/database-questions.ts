import { isUnknown, type Text } from '../text.ts';

/**
 * Statements that only ask a server and change nothing, as far as that can be known from their text: what isn't on these lists is
 * no question. A function of the server may do anything (`pg_terminate_backend`, `dblink`), so those that don't are named, too.
 */
export function onlyAsks(client: string, texts: readonly Text[]): boolean {
  const given = texts.filter((text) => text.trim() !== '');
  if (given.length === 0 || given.some(isUnknown)) return false;
  if (/^(psql|pgcli|mysql|mariadb|mycli)$/.test(client)) return given.every((text) => statements(text).every(isQuestion));
  if (/^(redis|valkey|keydb)-cli$/.test(client)) return given.every((text) => REDIS.test(text.trim()));
  return false;
}

/** Without what stands in quotes and comments: names and values are data. */
const statements = (text: Text): readonly string[] =>
  text
    .replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*/g, ' x ')
    .split(/[;\n](?=\s*(?:\\|select\b|with\b|show\b|explain\b|describe\b|desc\b|table\b|values\b|$))/i)
    .map((one) => one.trim().replace(/;$/, ''))
    .filter((one) => one !== '');

const META = /^\\(?:d\w*\+?|l\+?|x|conninfo|timing|pset|encoding|sf\+?|z|q)(?:\s+[\w.*?"+-]+)*$/;
const OPENING = /^(?:select|with|show|explain|describe|desc|table|values)\b/i;
const CHANGES =
  /\b(insert|update|delete|drop|alter|create|truncate|grant|revoke|copy|do|call|merge|lock|into|outfile|dumpfile|exec|execute|prepare|vacuum|reindex|cluster|refresh|set|reset|handler|load|kill|shutdown|flush|replace|rename|program|system|listen|notify)\b|[\\;!|]|\/\*/i;
const FUNCTIONS = new Set(
  `count sum avg min max coalesce nullif greatest least now version length char_length lower upper trim ltrim rtrim concat concat_ws substring substr left right position
  date date_trunc date_part date_format extract age to_char to_date to_timestamp to_number round floor ceil ceiling abs mod power sqrt random cast convert
  json_agg jsonb_agg json_build_object jsonb_build_object row_to_json to_json to_jsonb json_extract json_object json_array array_agg array_length cardinality string_agg group_concat unnest generate_series
  row_number rank dense_rank ntile lag lead first_value last_value over filter within in exists any all some not and or as on using values from where when then else having select distinct by union except intersect with
  current_database current_schema current_user current_date current_time current_timestamp database schema user pg_size_pretty pg_database_size pg_total_relation_size pg_relation_size pg_table_size pg_indexes_size
  pg_get_indexdef pg_get_constraintdef pg_get_viewdef pg_typeof format_type obj_description col_description analyze buffers format verbose costs timing if ifnull isnull case interval varchar char numeric decimal`.split(
    /\s+/,
  ),
);

function isQuestion(one: string): boolean {
  if (one.startsWith('\\')) return META.test(one);
  if (!OPENING.test(one) || CHANGES.test(one.replace(/^show\s+create\b/i, 'show'))) return false;
  return [...one.matchAll(/([\w.]+)\s*\(/g)].every((match) => FUNCTIONS.has((match[1] ?? '').toLowerCase().replace(/^pg_catalog\./, '')));
}

const REDIS =
  /^(?:ping|info|dbsize|time|get|mget|strlen|getrange|exists|type|ttl|pttl|keys|scan|randomkey|hget|hmget|hgetall|hkeys|hvals|hlen|hexists|hscan|lrange|llen|lindex|smembers|scard|sismember|sscan|srandmember|zrange|zrevrange|zrangebyscore|zcard|zcount|zscore|zrank|zscan|xlen|xrange|xrevrange|xinfo|bitcount|object|memory usage|memory stats|client list|client id|slowlog get|command count|command docs|latency latest|cluster info|cluster nodes|role)(?:\s[^\n]*)?$/i;
