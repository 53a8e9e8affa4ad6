import { asText, object, objects, sendEvents, sendJson, type Wire } from './wire.ts';

/** Gemini generateContent (Gemini CLI). Its calls carry no ids: every function response is taken for one of ours. */
export const gemini: Wire = {
  path: /:(streamG|g)enerateContent$/,
  offered: (body) =>
    objects(body['tools'])
      .flatMap((tool) => objects(tool['functionDeclarations']))
      .map(({ name, description }) => ({ name: String(name), description: asText(description) })),
  results: (body) =>
    objects(body['contents'])
      .flatMap((content) => objects(content['parts']))
      .filter((part) => part['functionResponse'] !== undefined)
      .map((part) => {
        const answer = object(object(part['functionResponse'])['response']);
        return { text: asText(answer['output'] ?? answer['error'] ?? answer), marked: answer['error'] !== undefined };
      }),
  answer: (response, _body, turn, path) => {
    const part = turn.type === 'words' ? { text: turn.text } : { functionCall: { name: turn.tool.name, args: turn.args } };
    const answer = {
      candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [part] } }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      modelVersion: 'scripted',
    };
    if (path.includes(':stream')) sendEvents(response, [['', answer]]);
    else sendJson(response, answer);
  },
};
