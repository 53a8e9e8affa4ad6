import { asText, type Body, CALL_ID, object, objects, sendEvents, sendJson, type Turn, type Wire } from './wire.ts';

/** OpenAI chat completions (opencode, qwen-code). */
export const openaiChat: Wire = {
  path: /\/chat\/completions$/,
  offered: (body) =>
    objects(body['tools']).map((tool) => {
      const { name, description } = object(tool['function']);
      return { name: String(name), description: asText(description) };
    }),
  results: (body) =>
    objects(body['messages'])
      .filter((message) => message['role'] === 'tool' && String(message['tool_call_id']).startsWith(CALL_ID))
      .map((message) => ({ text: asText(message['content']), marked: undefined })),
  answer: (response, body, turn) => {
    const base = { id: 'chatcmpl-scripted', created: 0, model: body['model'] };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const message = messageOf(turn);
    const finish_reason = turn.type === 'call' ? 'tool_calls' : 'stop';
    if (body['stream'] !== true) {
      const choices = [{ index: 0, finish_reason, message: { role: 'assistant', content: null, ...message } }];
      return sendJson(response, { ...base, object: 'chat.completion', usage, choices });
    }
    const chunk = (choices: readonly object[], rest: object = {}): readonly [string, object] => [
      '',
      { ...base, object: 'chat.completion.chunk', choices, ...rest },
    ];
    sendEvents(response, [
      chunk([{ index: 0, delta: { role: 'assistant' }, finish_reason: null }]),
      chunk([{ index: 0, delta: message, finish_reason: null }]),
      chunk([{ index: 0, delta: {}, finish_reason }]),
      chunk([], { usage }),
      ['', '[DONE]'],
    ]);
  },
};

function messageOf(turn: Turn): Body {
  if (turn.type === 'words') return { content: turn.text };
  const call = { name: turn.tool.name, arguments: JSON.stringify(turn.args) };
  return { tool_calls: [{ index: 0, id: `${CALL_ID}${turn.index}`, type: 'function', function: call }] };
}
