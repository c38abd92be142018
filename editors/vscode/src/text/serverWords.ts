/** Rewords messages of the server for the user. Pure. */

/** The fields of the commands in docs/protocol.md that begin an error message: they are for programs. */
const FIELD =
  /^(?:answer|context|digest|files|grant|hunkIds?|hunkIds, uri or turnId|hunks|import|kind|messageId|outcome|path|prompt|provider|range|requestId|root|sessionId|since|textDocument|title|turnId|uri): /;
/** How Tark's own sentences begin. Names such as "OpenAI" keep their first letter. */
const FIRST_WORD = /^(?:A|An|No|Something|The|There|This)\b/;

/** An error message without the name of the field that is wrong. */
export function withoutField(message: string): string {
  return message.replace(FIELD, "");
}

/** Rewords a reason that was written for the model. */
export function addressUser(problem: string): string {
  return withoutField(problem).replaceAll(/the (?:person|user)\b/g, "you");
}

/** A sentence as it follows "Tark: ". */
export function afterPrefix(sentence: string): string {
  return sentence.replace(FIRST_WORD, (word) => word.toLowerCase());
}

/** A message as it begins a line. */
export function sentenceCase(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}
