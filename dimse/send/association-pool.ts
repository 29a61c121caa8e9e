import type { CalledNode } from '../network/dial.ts';
import type { ProposedContext } from '../network/pdu.ts';
import { Requestor } from '../network/requestor.ts';
import type { OutgoingObject } from '../network/service-ports.ts';

/** The properties of an object that determine its presentation context. */
export type ObjectKind = Pick<OutgoingObject, 'sopClassUid' | 'transferSyntax'>;

interface LentAssociation {
  requestor: Requestor;
  /** True if the association was idle before. The peer may have ended it in the meantime. */
  wasIdle: boolean;
}

export interface Associations {
  /**
   * Supplies an association. Each entry of `objects` contains the alternative forms of one object
   * (see `StoreTransport.send`). A context is proposed for every form, but the peer may accept none
   * of them.
   * @throws SonogateError `peer_unreachable`, `peer_rejected_association`.
   */
  acquire(
    node: CalledNode,
    objects: readonly (readonly ObjectKind[])[],
    signal?: AbortSignal,
  ): Promise<LentAssociation>;
  /** Gives an association back when there is no further object for now. */
  giveBack(node: CalledNode, lent: LentAssociation): Promise<void>;
}

/** Opens a new association each time, and releases it when it is given back. */
export const FRESH_ASSOCIATIONS: Associations = {
  async acquire(node, objects, signal) {
    const requestor = await Requestor.open(node, contextsFor(objects.flat()), signal);
    return { requestor, wasIdle: false };
  },
  giveBack: (_, { requestor }) => requestor.release(),
};

/**
 * Maximum number of contexts: presentation context ids are odd numbers up to 255 (PS3.8 9.3.2.2).
 */
export const MAX_CONTEXTS = 128;

/**
 * Proposes one context per SOP class and transfer syntax, so that the peer cannot choose another
 * encoding.
 */
export function contextsFor(objects: readonly ObjectKind[]): ProposedContext[] {
  const kinds = new Map(objects.map((object) => [objectKindKey(object), object]));
  return [...kinds.values()].slice(0, MAX_CONTEXTS).map((object, index) => ({
    id: 2 * index + 1,
    abstractSyntax: object.sopClassUid,
    transferSyntaxes: [object.transferSyntax],
  }));
}

export const objectKindKey = ({ sopClassUid, transferSyntax }: ObjectKind): string =>
  `${sopClassUid} ${transferSyntax}`;

/**
 * Milliseconds after which an association is replaced even if it is never idle, because the
 * settings of the peer may change.
 */
const LONGEST_LIFE_MS = 60_000;

interface Open {
  lent: LentAssociation;
  key: string;
  /** Kinds of object for which a context was proposed, whether or not the peer accepted it. */
  proposed: ReadonlySet<string>;
  openedAt: number;
  /** Used to abort the association when a delivery is canceled. */
  life: AbortController;
}

/**
 * After a delivery, keeps one association to each node open for the next delivery. An association
 * that lacks a context, has ended or is too old is replaced. The new one proposes all contexts that
 * the node has needed so far, as far as they fit (`MAX_CONTEXTS`).
 */
export class AssociationPool implements Associations {
  readonly #idle = new Map<string, { open: Open; timer: NodeJS.Timeout }>();
  readonly #used = new Map<LentAssociation, Open & { stopWatching(): void }>();
  readonly #needed = new Map<string, Map<string, ObjectKind>>();
  readonly #idleMs: number;

  /**
   * Creates a pool.
   * @param idleSeconds 0 releases each association when it is given back.
   */
  constructor(idleSeconds: number) {
    this.#idleMs = idleSeconds * 1000;
  }

  async acquire(
    node: CalledNode,
    objects: readonly (readonly ObjectKind[])[],
    signal?: AbortSignal,
  ): Promise<LentAssociation> {
    const key = keyOf(node);
    const kept = this.#unkeep(key);
    if (kept && isOfUse(kept, objects)) {
      kept.lent.wasIdle = true;
      return this.#use(kept, signal);
    }
    await kept?.lent.requestor.release();
    const kinds = this.#remember(key, objects.flat());
    const life = new AbortController();
    const stopWatching = watch(signal, life);
    try {
      const requestor = await Requestor.open(node, contextsFor(kinds), life.signal);
      const lent = { requestor, wasIdle: false };
      const proposed = new Set(kinds.map(objectKindKey));
      return this.#use({ lent, key, proposed, openedAt: Date.now(), life }, signal);
    } finally {
      stopWatching();
    }
  }

  async giveBack(_: CalledNode, lent: LentAssociation): Promise<void> {
    const open = this.#used.get(lent);
    this.#used.delete(lent);
    open?.stopWatching();
    if (lent.requestor.closed) return;
    if (!open || this.#idleMs === 0 || this.#idle.has(open.key)) return lent.requestor.release();
    lent.requestor.rest();
    const timer = setTimeout(() => {
      this.#idle.delete(open.key);
      void lent.requestor.release();
    }, this.#idleMs);
    this.#idle.set(open.key, { open, timer });
  }

  async close(): Promise<void> {
    const resting = [...this.#idle.keys()].map((key) => this.#unkeep(key));
    await Promise.all(resting.map((open) => open?.lent.requestor.release()));
  }

  #unkeep(key: string): Open | null {
    const kept = this.#idle.get(key);
    this.#idle.delete(key);
    clearTimeout(kept?.timer);
    return kept?.open ?? null;
  }

  #use(open: Open, signal?: AbortSignal): LentAssociation {
    this.#used.set(open.lent, { ...open, stopWatching: watch(signal, open.life) });
    return open.lent;
  }

  /**
   * Returns the kinds of object needed now, followed by those needed before, up to the maximum
   * number of contexts.
   */
  #remember(key: string, now: readonly ObjectKind[]): ObjectKind[] {
    const before = this.#needed.get(key) ?? new Map<string, ObjectKind>();
    const all = new Map([...now.map((kind) => [objectKindKey(kind), kind] as const), ...before]);
    const kinds = [...all].slice(0, MAX_CONTEXTS);
    const bare = kinds.map(([name, { sopClassUid, transferSyntax }]) => {
      return [name, { sopClassUid, transferSyntax }] as const;
    });
    this.#needed.set(key, new Map(bare));
    return kinds.map(([, kind]) => kind);
  }
}

function isOfUse(
  { lent: { requestor }, proposed, openedAt }: Open,
  objects: readonly (readonly ObjectKind[])[],
): boolean {
  return (
    !requestor.closed &&
    Date.now() - openedAt < LONGEST_LIFE_MS &&
    objects.flat().every((kind) => proposed.has(objectKindKey(kind))) &&
    objects.every((forms) => forms.some((form) => requestor.accepts(form)))
  );
}

function watch(signal: AbortSignal | undefined, life: AbortController): () => void {
  const end = () => life.abort();
  if (signal?.aborted) end();
  signal?.addEventListener('abort', end, { once: true });
  return () => signal?.removeEventListener('abort', end);
}

function keyOf({ host, port, aeTitle, callingAeTitle }: CalledNode): string {
  return `${callingAeTitle}@${host}:${port}/${aeTitle}`;
}
