# SPDX-License-Identifier: MIT
# Completion of jprof and jprof-report for bash: options and commands as the
# programs' own --help has them, formats, and the processes that have the
# library.  Runs in: bash.

# The options that a program's --help shows, in the lines that sed takes of it,
# with the = of those that want one.
_jprof_options()
{
    "$1" --help 2>/dev/null | sed -n "$2" |
        grep -oE '(^|[[ ,|])--?[A-Za-z][a-z-]*=?' | tr -d '[ ,|' | sort -u
}

_jprof_pids()
{
    grep -ls 'libjprof\.so' /proc/[0-9]*/maps 2>/dev/null | cut -d/ -f3
}

# Whether a word before the last one is the program to run; has_variables is 1
# where NAME=VALUE ends the options.
_jprof_has_program()
{
    local words i
    # Not COMP_WORDS: --push=http://host is many words there.
    read -ra words <<<"${COMP_LINE:0:COMP_POINT}."
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        case ${words[i]} in
        -F | -p | -o | --to | --label | --name | --tenant | --token-file | --curl-config | --spool | --spool-size)
            i=$((i + 1))
            ;;
        run) ((i == 1)) || return 0 ;;
        -*) ;;
        [A-Za-z_]*=*) has_variables=1 ;;
        *) return 0 ;;
        esac
    done
    return 1
}

_jprof_values()
{
    case $1 in
    --jit) echo off map dump ;;
    --with) echo pprof firefox speedscope ;;
    --to) echo pyroscope parca ;;
    --jit-detail) echo func src ir ir-ops ;;
    --jit-tiers) echo merge split raw ;;
    --event) echo cpu running blocked ready raised ;;
    --format) echo html html-plain text collapsed pprof push speedscope firefox callgrind perf-script summary archive cleo annotate ;;
    esac
}

_jprof_reply()
{
    local IFS=$' \t\n'
    mapfile -t COMPREPLY < <(compgen "$@")
}

_jprof()
{
    local cur=${COMP_WORDS[COMP_CWORD]} option='' command='' has_variables=''
    local run='/^run /,/^report /p' push='/^push /,/^start/p'
    local reporter=${1%jprof*}jprof-report
    # bash takes --format=text for three words.
    if [ "$cur" = = ]; then
        option=${COMP_WORDS[COMP_CWORD - 1]}
        cur=''
    elif ((COMP_CWORD > 1)) && [ "${COMP_WORDS[COMP_CWORD - 1]}" = = ]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [ -n "$option" ]; then
        case $option in
        --output-dir | --debug-dir | --source-dir | --spool)
            _jprof_reply -d -- "$cur"
            ;;
        --event | --format | --jit | --jit-detail | --jit-tiers | --to | --with)
            _jprof_reply -W "$(_jprof_values "$option")" -- "$cur"
            ;;
        *) _jprof_reply -f -- "$cur" ;;
        esac
        return
    fi
    if [ "${COMP_WORDS[COMP_CWORD - 1]}" = -o ]; then
        _jprof_reply -f -- "$cur"
        return
    fi
    command=report
    if [ "${1##*/}" = jprof ]; then
        command=${COMP_WORDS[1]}
        ((COMP_CWORD > 1)) || command=''
    fi
    case $command:$cur in
    report:-*) _jprof_reply -W "$(_jprof_options "$reporter" p)" -- "$cur" ;;
    view:-*) _jprof_reply -W --with= -- "$cur" ;;
    pack:-*) _jprof_reply -W -o -- "$cur" ;;
    push:-*) _jprof_reply -W "$(_jprof_options "$1" "$push")" -- "$cur" ;;
    report:* | view:* | push:* | pack:*) _jprof_reply -f -- "$cur" ;;
    start:* | pause:* | clear:* | save:*)
        _jprof_reply -W "$(_jprof_pids)" -- "$cur"
        ;;
    :-*)
        _jprof_reply -W "$(_jprof_options "$1" "$run;$push;/^ *jprof --/p")" -- "$cur"
        ;;
    :*)
        _jprof_reply -c -W 'run report view push pack start pause clear save' -- "$cur"
        ;;
    *)
        # Once the program is named, its own words follow.
        if _jprof_has_program; then
            _jprof_reply -f -- "$cur"
        elif [[ $cur = -* && -z $has_variables ]]; then
            _jprof_reply -W "$(_jprof_options "$1" "$run;$push")" -- "$cur"
        else
            _jprof_reply -c -- "$cur"
        fi
        ;;
    esac
    # As a file's name, its = would be quoted.
    case ${COMPREPLY[0]-} in
    -*=) compopt -o nospace +o filenames 2>/dev/null ;;
    esac
}
complete -o filenames -F _jprof jprof jprof-report
