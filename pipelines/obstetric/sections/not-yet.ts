import type { ObstetricSection } from '../section.ts';

interface NotYet {
  id: string;
  title: string;
  /** Follows "This version does not assess …". */
  what: string;
  needs: readonly string[];
}

/** Sections of service.md 2.6 that this version lists and does not assess. */
const NOT_YET: readonly NotYet[] = [];

function section({ id, title, what, needs }: NotYet): ObstetricSection {
  const detail = `This version does not assess ${what}.`;
  const reason = { code: 'not_in_this_version', detail, needs: [...needs] };
  return { id, title, needs, run: () => ({ status: 'not_assessed', reason, summary: detail }) };
}

export const notYet: readonly ObstetricSection[] = NOT_YET.map(section);
