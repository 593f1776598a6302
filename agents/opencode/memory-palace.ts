// The palace in OpenCode: wakes a session up, adds what fits a prompt, holds the rules.
// A thin shell over `palace hook`; what is said is decided there.
import type { Plugin } from "@opencode-ai/plugin";
import { type Answer, ask, textOf } from "../shared/palace.ts";

const CLIENT = "opencode";

interface Session {
  /** What comes up while no prompt is there to carry it. */
  waiting: Promise<string>[];
  /** The turn goes on because a rule asked for it. */
  again: boolean;
  /** A prompt was given and the session has not been idle since. */
  working: boolean;
}

let counter = 0;

/** An id as the client makes them: parts are sorted by it, and ours come last. */
function partId(): string {
  const moment = (BigInt(Date.now()) * 0x1000n + BigInt(++counter)).toString(16).padStart(12, "0").slice(-12);
  return `prt_${moment}${Math.random().toString(36).slice(2).padEnd(14, "0").slice(0, 14)}`;
}

export const MemoryPalace: Plugin = async ({ client, directory }) => {
  const sessions = new Map<string, Session>();
  const warned = new Map<string, string>(); // of a tool call, until its result

  const asked = (event: string, session: string, fields?: Record<string, unknown>): Promise<Answer> =>
    ask(CLIENT, event, session, directory, fields);

  const woken = async (id: string, source: string): Promise<string> =>
    (await asked("SessionStart", id, { source })).context;

  const started = (id: string): Session => {
    const known = sessions.get(id);
    if (known) return known;
    const waking = sourceOf(id).then((source) => woken(id, source));
    const made: Session = { waiting: [waking], again: false, working: false };
    sessions.set(id, made);
    return made;
  };

  const sourceOf = async (id: string): Promise<string> => {
    try {
      const { data } = await client.session.messages({ path: { id } });
      return (data ?? []).some(({ info }) => info.role === "assistant") ? "resume" : "startup";
    } catch {
      return "startup";
    }
  };

  const stopped = async (id: string): Promise<void> => {
    const session = sessions.get(id);
    if (!session?.working) return;
    session.working = false;
    const { retry } = await asked("Stop", id, { stop_hook_active: session.again });
    if (!retry || session.again) return;
    session.again = true;
    await client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text: retry, synthetic: true }] } });
  };

  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const session = started(sessionID);
      session.working = true;
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic);
      if (typed.length) session.again = false;
      const prompt = textOf(typed);
      // What the start told is not told again, so it comes first.
      const woke = await Promise.all(session.waiting.splice(0));
      const fitting = prompt ? (await asked("UserPromptSubmit", sessionID, { prompt })).context : "";
      const text = [...woke, fitting].filter(Boolean).join("\n\n");
      if (!text) return;
      parts.push({ id: partId(), sessionID, messageID: message.id, type: "text", text, synthetic: true });
    },

    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const { context, deny, ask: question } = await asked("PreToolUse", sessionID, {
        tool_name: tool,
        tool_input: args,
      });
      if (deny || question) throw new Error(deny || question);
      if (context) warned.set(callID, context);
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const { context } = await asked("PostToolUse", sessionID, {
        tool_name: tool,
        tool_input: args,
        tool_response: textOf(output.output),
      });
      const told = [warned.get(callID) ?? "", context].filter(Boolean);
      warned.delete(callID);
      if (told.length) output.output = [output.output, ...told].join("\n\n");
    },

    "experimental.session.compacting": async ({ sessionID }) => {
      await asked("PreCompact", sessionID, { trigger: "auto" });
    },

    event: async ({ event }) => {
      if (event.type === "session.idle") {
        await stopped(event.properties.sessionID);
      } else if (event.type === "session.compacted") {
        const id = event.properties.sessionID;
        started(id).waiting.push(woken(id, "compact"));
      } else if (event.type === "session.deleted") {
        await asked("SessionEnd", event.properties.info.id, { reason: "other" });
        sessions.delete(event.properties.info.id);
      } else if (event.type === "message.part.updated" && event.properties.part.type === "tool") {
        const { tool, sessionID, state } = event.properties.part;
        if (state.status !== "error") return;
        const fields = { tool_name: tool, tool_input: state.input, error: textOf(state.error) };
        await asked("PostToolUseFailure", sessionID, fields);
      }
    },
  };
};
