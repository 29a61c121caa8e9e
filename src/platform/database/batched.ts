import { setImmediate as afterReads, setTimeout as pause } from 'node:timers/promises';

/**
 * Maximum number of questions per batch. A larger batch gains nothing and makes every caller wait
 * for the last answer of the batch.
 */
const MOST = 200;

interface Asked<Question, Answer> {
  question: Question;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Combines many calls into one round trip: questions that arrive while a batch is running are sent
 * together in the next one. A busy gateway therefore makes few round trips, and on an idle one no
 * call waits. This saves time because a socket write and waking the server cost more than most
 * statements.
 * @param answerAll returns answers in the order of the questions. If it fails, each question is
 * asked again alone, so that one question cannot make others fail. Asking twice must therefore do
 * no harm.
 * @param collectMs milliseconds for which questions are collected before each batch: for questions
 * whose answers nobody is waiting for.
 */
export function batched<Question, Answer>(
  answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  { collectMs = 0 }: { collectMs?: number } = {},
): (question: Question) => Promise<Answer> {
  const waiting: Asked<Question, Answer>[] = [];
  let underWay = false;

  const settle = async (batch: readonly Asked<Question, Answer>[]): Promise<void> => {
    try {
      const answers = await answerAll(batch.map(({ question }) => question));
      batch.forEach(({ resolve }, n) => {
        resolve(answers[n] as Answer);
      });
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const alone of batch) await settle([alone]);
    }
  };

  const workOff = async (): Promise<void> => {
    underWay = true;
    // Calls that arrive in the same turn of the event loop join the first batch.
    await (collectMs > 0 ? pause(collectMs) : afterReads());
    while (waiting.length > 0) {
      await settle(waiting.splice(0, MOST));
      if (collectMs > 0 && waiting.length > 0) await pause(collectMs);
    }
    underWay = false;
  };

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (!underWay) void workOff();
    });
}
