/**
 * Whether a condition holds. `open`: it does not for now, because what it hangs on is not known.
 */
export interface Truth {
  holds: boolean;
  open?: true;
}

export const OPEN: Truth = { holds: false, open: true };

/** Three-valued logic (Kleene 1938): what is open stays open, unless the other parts decide. */
export function conjunction(parts: readonly Truth[]): Truth {
  if (parts.some((part) => !part.holds && !part.open)) return { holds: false };
  return parts.some(isOpen) ? OPEN : { holds: true };
}

export function disjunction(parts: readonly Truth[]): Truth {
  if (parts.some(({ holds }) => holds)) return { holds: true };
  return parts.some(isOpen) ? OPEN : { holds: false };
}

export function negation(part: Truth): Truth {
  return part.open ? OPEN : { holds: !part.holds };
}

const isOpen = ({ open }: Truth) => open === true;
