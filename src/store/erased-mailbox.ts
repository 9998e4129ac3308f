// What an erased account has in the place of its normalized mailbox, which no other account may have. No mailbox has a
// space there.

export const ERASING = "erasing ";

/** Marks an account whose keys and jobs are not all cleared. */
export const erasingMailbox = (accountId: string): string => `${ERASING}${accountId}`;

export const erasedMailbox = (accountId: string): string => `erased ${accountId}`;
