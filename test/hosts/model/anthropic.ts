import { asText, type Body, CALL_ID, objects, sendEvents, sendJson, type Turn, type Wire } from './wire.ts';

/** Anthropic messages (Claude Code). */
export const anthropic: Wire = {
  path: /\/messages$/,
  offered: (body) => objects(body['tools']).map(({ name, description }) => ({ name: String(name), description: asText(description) })),
  results: (body) =>
    objects(body['messages'])
      .flatMap((message) => objects(message['content']))
      .filter((part) => part['type'] === 'tool_result' && String(part['tool_use_id']).startsWith(CALL_ID))
      .map((part) => ({ text: asText(part['content']), marked: part['is_error'] === true })),
  answer: (response, body, turn) => {
    const block = blockOf(turn);
    const stop_reason = turn.type === 'call' ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
    const message = { id: 'msg_scripted', type: 'message', role: 'assistant', model: body['model'], stop_sequence: null, usage };
    if (body['stream'] !== true) return sendJson(response, { ...message, content: [block], stop_reason });
    const event = (type: string, rest: object = {}): readonly [string, object] => [type, { type, ...rest }];
    sendEvents(response, [
      event('message_start', { message: { ...message, content: [], stop_reason: null } }),
      event('content_block_start', {
        index: 0,
        content_block: turn.type === 'call' ? { ...block, input: {} } : { type: 'text', text: '' },
      }),
      event('content_block_delta', { index: 0, delta: deltaOf(turn) }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } }),
      event('message_stop'),
    ]);
  },
};

function blockOf(turn: Turn): Body {
  if (turn.type === 'words') return { type: 'text', text: turn.text };
  return { type: 'tool_use', id: `${CALL_ID}${turn.index}`, name: turn.tool.name, input: turn.args };
}

function deltaOf(turn: Turn): Body {
  if (turn.type === 'words') return { type: 'text_delta', text: turn.text };
  return { type: 'input_json_delta', partial_json: JSON.stringify(turn.args) };
}
