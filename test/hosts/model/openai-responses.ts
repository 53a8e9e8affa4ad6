import { asText, type Body, CALL_ID, type Offered, objects, sendEvents, sendJson, type Turn, type Wire } from './wire.ts';

/** OpenAI responses (Codex). */
export const openaiResponses: Wire = {
  path: /\/responses$/,
  offered: (body) => objects(body['tools']).flatMap(offeredOf),
  results: (body) =>
    objects(body['input'])
      .filter((item) => String(item['type']).endsWith('_output') && String(item['call_id']).startsWith(CALL_ID))
      .map((item) => ({ text: asText(item['output']), marked: undefined })),
  answer: (response, body, turn) => {
    const item = itemOf(turn);
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
    const base = { id: 'resp_scripted', object: 'response', created_at: 0, model: body['model'] };
    const completed = { ...base, status: 'completed', output: [item], usage };
    if (body['stream'] !== true) return sendJson(response, completed);
    const event = (type: string, rest: object): readonly [string, object] => [type, { type, ...rest }];
    sendEvents(response, [
      event('response.created', { response: { ...base, status: 'in_progress', output: [] } }),
      event('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress' } }),
      event('response.output_item.done', { output_index: 0, item }),
      event('response.completed', { response: completed }),
    ]);
  },
};

function offeredOf(tool: Body): Offered[] {
  const one = (each: Body): Offered => ({ name: String(each['name'] ?? each['type']), description: asText(each['description']) });
  return tool['type'] === 'namespace'
    ? objects(tool['tools']).map((each) => ({ ...one(each), namespace: String(tool['name']) }))
    : [one(tool)];
}

function itemOf(turn: Turn): Body {
  if (turn.type === 'words') {
    const content = [{ type: 'output_text', text: turn.text, annotations: [] }];
    return { type: 'message', id: 'msg_scripted', role: 'assistant', status: 'completed', content };
  }
  const { name, namespace } = turn.tool;
  return {
    type: 'function_call',
    id: `fc_scripted_${turn.index}`,
    call_id: `${CALL_ID}${turn.index}`,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    arguments: JSON.stringify(turn.args),
    status: 'completed',
  };
}
