# SPDX-License-Identifier: MIT
# Completion of jprof and jprof-report for fish: see jprof.bash.
# Runs in: fish.

# The options that a program's --help shows, in the lines that sed takes of it.
function __jprof_options
    $argv[1] --help 2>/dev/null | sed -n $argv[2] |
        string match -arg '(?:^|[\[ ,|])(--?[A-Za-z][a-z-]*=?)' | sort -u
end

function __jprof_with --argument-names option
    printf "$option=%s\n" $argv[2..]
end

function __jprof_values
    switch (commandline -ct)
        case '--jit=*'
            __jprof_with --jit off map dump
        case '--jit-detail=*'
            __jprof_with --jit-detail func src ir ir-ops
        case '--jit-tiers=*'
            __jprof_with --jit-tiers merge split raw
        case '--with=*'
            __jprof_with --with pprof firefox speedscope
        case '--event=*'
            __jprof_with --event cpu running blocked ready raised
        case '--to=*'
            __jprof_with --to pyroscope parca
        case '--format=*'
            __jprof_with --format html html-plain text collapsed pprof push speedscope firefox callgrind perf-script summary archive cleo annotate
        case '--output-dir=*' '--debug-dir=*' '--source-dir=*' '--spool=*'
            set -l word (string split -m 1 = -- (commandline -ct))
            printf '%s\n' $word[1]=(__fish_complete_directories "$word[2]" '')
        case '*'
            return 1
    end
end

# Whether a word is the program to run.
function __jprof_has_program
    set -l value
    for word in $argv
        if set -q value[1]
            set -e value
            continue
        end
        switch $word
            case -F -p -o --to --label --name --tenant --token-file --curl-config --spool --spool-size
                set value next
            case '-*'
            case '*'
                string match -qr '^[A-Za-z_]\\w*=' -- $word
                or return 0
        end
    end
    return 1
end

function __jprof_words
    set -l run '/^run /,/^report /p'
    set -l push '/^push /,/^start/p'
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l command $words[2]
    test (basename $words[1]) = jprof; or set command report
    __jprof_values; and return
    switch "$command"
        case start pause clear save
            grep -ls 'libjprof\.so' /proc/*/maps 2>/dev/null |
                string match -rg "^/proc/([0-9]+)/"
            return
        case view
            string match -q -- '-*' $current
            and __jprof_with --with pprof firefox speedscope
            return
        case pack
            string match -q -- '-*' $current
            and printf '%s\n' -o
            return
        case report
            string match -q -- '-*' $current
            and __jprof_options (string replace -r 'jprof[^/]*$' jprof-report $words[1]) p
            return
        case push
            string match -q -- '-*' $current
            and __jprof_options $words[1] $push
            return
    end
    set -l rest $words[2..]
    test "$rest[1]" = run; and set -e rest[1]
    # Once the program is named, its own words follow.
    __jprof_has_program $rest; and return
    if test (count $words) = 1
        string match -q -- '-*' $current
        and __jprof_options $words[1] "$run;$push;/^ *jprof --/p"
        or printf '%s\n' run report view push pack start pause clear save
    else if not string match -qr '^[A-Za-z_]\\w*=' -- $rest
        string match -q -- '-*' $current
        and __jprof_options $words[1] "$run;$push"
    end
    string match -q -- '-*' $current; or __fish_complete_command
end

complete -c jprof -c jprof-report -a '(__jprof_words)'
# Where __jprof_values knows the values, the files here are none.
complete -c jprof -c jprof-report -n '__jprof_values >/dev/null' -f
complete -c jprof -n '__fish_seen_subcommand_from start pause clear save' -f
