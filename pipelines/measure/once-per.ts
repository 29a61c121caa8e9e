/**
 * A pure function of something that never changes, computed once for each: the same frames are
 * interpreted at both ends of every interval, and again with every change of a review. What was
 * computed is forgotten together with what it was computed from.
 */
export function oncePer<Given extends object, Made>(
  make: (given: Given) => Made,
): (given: Given) => Made {
  const known = new WeakMap<Given, { made: Made }>();
  return (given) => {
    const found = known.get(given) ?? { made: make(given) };
    known.set(given, found);
    return found.made;
  };
}
