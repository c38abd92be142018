// The official openai SDK of JavaScript as a client. Reads {url, token, sdk, jobs} from standard input, and writes
// one JSON value for each job. A job is {do, ...}: what is done is a function below.
import { pathToFileURL } from "node:url";

const { url, token, sdk, jobs } = JSON.parse(await new Response(process.stdin).text());
const { default: OpenAI } = await import(pathToFileURL(sdk).href);
const client = new OpenAI({ baseURL: url, apiKey: token, maxRetries: 0 });

async function streamed(request) {
  const stream = client.responses.stream(request);
  const kinds = [];
  let text = "";
  for await (const event of stream) {
    kinds.push(event.type);
    if (event.type === "response.output_text.delta") {
      text += event.delta;
    }
  }
  return { kinds, text, response: await stream.finalResponse() };
}

const actions = {
  create: async ({ request }) => ({ response: await client.responses.create(request) }),
  stream: async ({ request }) => streamed(request),

  // Two turns: the items go back as they came, with an output for each call.
  continue: async ({ request }) => {
    const { response } = await streamed(request);
    const calls = response.output.filter((item) => item.type === "function_call");
    const outputs = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "seen" }));
    const items = response.output.map(({ parsed_arguments: _, ...item }) => item);
    const input = [{ role: "user", content: request.input }, ...items, ...outputs];
    return { response: await client.responses.create({ ...request, input }) };
  },

  // Leaves after the first piece of text.
  leave: async ({ request }) => {
    const leaving = new AbortController();
    let left = "not";
    try {
      const stream = await client.responses.create({ ...request, stream: true }, { signal: leaving.signal });
      for await (const event of stream) {
        if (event.type === "response.output_text.delta") {
          leaving.abort();
          left = "after text";
        }
      }
    } catch (error) {
      return { left, error: error.constructor.name };
    }
    return { left };
  },
};

for (const job of jobs) {
  let result;
  try {
    result = await actions[job.do](job);
  } catch (error) {
    const { name, status, code, param, message } = { ...error, name: error.constructor.name, message: error.message };
    result = { error: { name, status, code, param, message } };
  }
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
