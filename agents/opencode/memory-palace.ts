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
  const parents = new Map<string, Promise<string>>();
  const warned = new Map<string, string>(); // of a tool call, until its result
  const denied = new Set<string>(); // tool calls that did not run

  /** The session in which a subagent's one was started; empty for a person's own. */
  const parentOf = (id: string): Promise<string> => {
    const known = parents.get(id);
    if (known) return known;
    const found = client.session.get({ path: { id } }).then(
      ({ data }) => data?.parentID ?? "",
      () => "",
    );
    parents.set(id, found);
    return found;
  };

  const asked = async (event: string, id: string, fields?: Record<string, unknown>): Promise<Answer> => {
    const parent = await parentOf(id);
    if (!parent) return ask(CLIENT, event, id, directory, fields);
    const name = event === "Stop" ? "SubagentStop" : event;
    return ask(CLIENT, name, parent, directory, { agent_id: id, agent_type: "task", ...fields });
  };

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

  /** What the agent said last, and to which message. */
  const answered = async (id: string): Promise<Record<string, unknown>> => {
    try {
      const { data } = await client.session.messages({ path: { id } });
      const { info, parts } = (data ?? []).findLast(({ info }) => info.role === "assistant" && !info.summary)!;
      const said = parts.filter((part) => part.type === "text" && !part.synthetic);
      return { prompt_id: info.role === "assistant" ? info.parentID : "", last_assistant_message: textOf(said) };
    } catch {
      return {};
    }
  };

  const stopped = async (id: string): Promise<void> => {
    const session = sessions.get(id);
    if (!session?.working) return;
    session.working = false;
    const answer = await answered(id);
    const { retry } = await asked("Stop", id, { stop_hook_active: session.again, ...answer });
    if (!retry || session.again) return;
    session.again = true;
    await client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text: retry, synthetic: true }] } });
  };

  /** A subagent's session is over when it stops. */
  const ended = async (id: string, reason: string): Promise<void> => {
    if (!(await parentOf(id))) await asked("SessionEnd", id, { reason });
    sessions.delete(id);
    parents.delete(id);
  };

  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const session = started(sessionID);
      session.working = true;
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic);
      if (typed.length) session.again = false;
      const prompt = textOf(typed);
      const turn = { prompt_id: message.id };
      // What the start told is not told again, so it comes first.
      const woke = await Promise.all(session.waiting.splice(0));
      const fitting = prompt ? (await asked("UserPromptSubmit", sessionID, { prompt, ...turn })).context : "";
      const text = [...woke, fitting].filter(Boolean).join("\n\n");
      if (!text) return;
      parts.push({ id: partId(), sessionID, messageID: message.id, type: "text", text, synthetic: true });
    },

    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const { context, deny, ask: question } = await asked("PreToolUse", sessionID, {
        tool_name: tool,
        tool_input: args,
        tool_use_id: callID,
      });
      if (deny || question) {
        denied.add(callID);
        throw new Error(deny || question);
      }
      if (context) warned.set(callID, context);
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const { context } = await asked("PostToolUse", sessionID, {
        tool_name: tool,
        tool_input: args,
        tool_use_id: callID,
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
        await ended(event.properties.info.id, "other");
      } else if (event.type === "message.part.updated" && event.properties.part.type === "tool") {
        const { tool, sessionID, callID, state } = event.properties.part;
        if (state.status !== "error" || denied.has(callID)) return;
        const fields = { tool_name: tool, tool_input: state.input, tool_use_id: callID, error: textOf(state.error) };
        await asked("PostToolUseFailure", sessionID, fields);
      }
    },

    dispose: async () => {
      await Promise.all([...sessions.keys()].map((id) => ended(id, "exit")));
    },
  };
};
