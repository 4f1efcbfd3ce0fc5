#!/bin/sh
# Prints a manual page, made from what the program says itself: scripts/man_page.sh PROGRAM SECONDS
set -eu
program="$1"
# The number of processors of this machine is no part of the page.
as_it_is() {
  sed "s#$program#ztp#g; s/\(--threads .*\)=[0-9]*$/\1/; s/\\\\/\\\\\\\\/g; s/-/\\\\-/g; s/^\\([.']\\)/\\\\\\&\\1/"
}
printf '.TH ZTP 1 "%s" "%s"\n' "$(LC_ALL=C date -u -d "@$2" +'%B %Y')" "$("$program" --version)"
printf '.SH NAME\nztp \\- Bayesian factorization of massive sparse binary tensors\n'
printf '.SH SYNOPSIS\n.B ztp\n.I COMMAND\n[options]\n.SH DESCRIPTION\n.nf\n'
"$program" --help | sed 1,2d | as_it_is
printf '.fi\n'
for name in $("$program" --help | awk '/^Subcommands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }'); do
  # `ztp bench` is a program of its own, which the package leaves out.
  text=$("$program" "$name" --help 2>/dev/null) || continue
  printf '.SH "ZTP %s"\n.nf\n' "$(echo "$name" | tr '[:lower:]' '[:upper:]')"
  printf '%s\n' "$text" | as_it_is
  printf '.fi\n'
done
